//! Sessions: starting, logging in, loading, taking up again, branching.

use acp_nvim::session::agent::{AuthKind, Capabilities};
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::{Call, Effect, Make, Tell};
use acp_nvim::session::entry::{Chunk, Entry, Note, Role};
use acp_nvim::session::event::{Answer, Happened, Made, Origin, Update, Wish};
use acp_nvim::session::failure::{Exit, Failure};
use acp_nvim::session::ids::SessionId;

use crate::support::launch;
use crate::world::{ONE, World, able, method, refused, says};

#[test]
fn initialize_is_tried_again_in_the_old_form() {
    let mut world = World::default();
    world.open(0, Origin::New);
    assert_eq!(world.calls(), [&Call::Initialize { old_form: false }]);
    world.answers(Answer::Initialize(Err(refused(-32602))));
    assert_eq!(world.calls(), [&Call::Initialize { old_form: true }]);
    world.answers(Answer::Initialize(Err(refused(-32602))));
    assert_eq!(world.session().word(), "failed");
}

#[test]
fn a_login_by_the_agent_then_the_session() {
    let mut world = World::default();
    world.open(0, Origin::New).initialized(able(), method(AuthKind::Agent)).prompt();
    world.answers(Answer::Session { session: ONE, result: Err(refused(-32000)) });
    assert!(
        world.told(|it| matches!(it, Tell::LoginRequired { methods, .. } if methods.len() == 1))
    );
    assert_eq!(world.session().word(), "waiting");
    world.wish(Wish::LogIn { session: ONE, method: "m".into() });
    assert_eq!(world.calls(), [&Call::Authenticate { session: ONE, method: "m".into() }]);
    world.answers(Answer::Authenticate { session: ONE, result: Ok(None) });
    assert!(matches!(world.calls()[..], [Call::Session { how: Make::New, .. }]));
    world.made();
    assert!(matches!(world.calls()[..], [Call::Prompt { .. }]), "the prompt has waited");
}

#[test]
fn a_login_in_a_terminal_starts_the_agent_again() {
    let mut world = World::default();
    let kind = AuthKind::Terminal { args: vec!["login".into()], env: vec![] };
    world.open(0, Origin::New).initialized(able(), method(kind));
    world.answers(Answer::Session { session: ONE, result: Err(refused(-32000)) });
    world.wish(Wish::LogIn { session: ONE, method: "m".into() });
    assert!(world.told(
        |it| matches!(it, Tell::LoginInTerminal { command, .. } if command == &["agent", "login"])
    ));
    world.wish(Wish::LoggedIn { session: ONE, ok: true });
    assert!(world.last.iter().any(|it| matches!(it, Effect::End(_))));
    assert!(world.last.iter().any(|it| matches!(it, Effect::Spawn { .. })));
}

#[test]
fn variables_are_told_and_a_login_can_be_cancelled() {
    let mut world = World::default();
    world.open(0, Origin::New).initialized(able(), method(AuthKind::Variables(vec!["KEY".into()])));
    world.answers(Answer::Session { session: ONE, result: Err(refused(-32000)) });
    world.wish(Wish::LogIn { session: ONE, method: "m".into() });
    let Some(Entry::Failure(failure)) = world.session().entries.last() else { panic!() };
    assert!(failure.message().contains("KEY"), "{failure:?}");
    let mut world = World::default();
    world.open(0, Origin::New).initialized(able(), method(AuthKind::Agent));
    world.answers(Answer::Session { session: ONE, result: Err(refused(-32000)) });
    world.wish(Wish::LogIn { session: ONE, method: "m".into() });
    world.wish(Wish::Cancel(ONE));
    assert!(world.last.iter().any(|it| matches!(it, Effect::CancelLogin(_))));
    assert_eq!(world.session().word(), "failed");
}

#[test]
fn a_prompt_refused_for_want_of_a_login_is_said_again() {
    let mut world = World::default();
    world.open(0, Origin::New).initialized(able(), method(AuthKind::Agent)).made().prompt();
    let turn = acp_nvim::session::ids::TurnId(1);
    world.answers(Answer::Prompt { session: ONE, turn, result: Err(refused(-32000)) });
    assert!(world.told(|it| matches!(it, Tell::LoginRequired { .. })));
    world.wish(Wish::LogIn { session: ONE, method: "m".into() });
    world.answers(Answer::Authenticate { session: ONE, result: Ok(None) });
    assert!(matches!(world.calls()[..], [Call::Prompt { .. }]), "the session is still known");
    assert_eq!(world.texts(), ["hi"], "shown once");
}

#[test]
fn a_kept_session_is_loaded_with_its_history() {
    let mut world = World::default();
    world.open(0, Origin::Kept("r1".into())).initialized(able(), vec![]);
    assert!(matches!(world.calls()[..], [Call::Session { how: Make::Load(_), .. }]));
    let user = Chunk { role: Role::User, content: Content::Text("then".into()), message: None };
    world.updates(Update::Chunk(user)).updates(says("answer"));
    world.answers(Answer::Session { session: ONE, result: Ok(Made::default()) });
    assert_eq!(world.texts(), ["then", "answer"]);
    assert_eq!(world.session().word(), "ready");
}

#[test]
fn an_agent_that_died_takes_the_session_up_again() {
    let mut world = World::running();
    world.updates(says("half"));
    world.agent(Happened::Exited { exit: Exit::Code(1), stderr: vec![] });
    assert!(
        world.told(|it| matches!(it, Tell::TurnFinished { result: Err(Failure::Died { .. }), .. }))
    );
    world
        .prompt()
        .agent(Happened::Started)
        .initialized(Capabilities { load: true, ..Default::default() }, vec![]);
    assert!(matches!(world.calls()[..], [Call::Session { how: Make::Load(_), .. }]));
    world.updates(says("the past again"));
    world.answers(Answer::Session { session: ONE, result: Ok(Made::default()) });
    assert_eq!(world.texts(), ["hi", "half", "hi"], "the past is not shown twice");
    assert!(world.session().entries.contains(&Entry::Note(Note::Resumed)));
}

#[test]
fn a_session_the_agent_forgot_is_made_anew() {
    let mut world = World::running();
    world.agent(Happened::Exited { exit: Exit::Code(1), stderr: vec![] });
    world.prompt().agent(Happened::Started).initialized(able(), vec![]);
    world.answers(Answer::Session { session: ONE, result: Err(refused(-32002)) });
    assert!(matches!(world.calls()[..], [Call::Session { how: Make::New, .. }]));
    world.made();
    assert!(world.session().entries.contains(&Entry::Note(Note::StartedAgain)));
}

#[test]
fn a_fork_hears_what_came_before_its_name() {
    let mut world = World::running();
    let two = SessionId(2);
    world.wish(Wish::Open { session: two, launch: launch(0), origin: Origin::Fork(ONE) });
    assert!(matches!(world.calls()[..], [Call::Session { how: Make::Fork(_), .. }]));
    world.agent(Happened::Updated { remote: "r2".into(), update: says("history") });
    let made = Made { remote: Some("r2".into()), ..Default::default() };
    world.answers(Answer::Session { session: two, result: Ok(made) });
    let fork = world.state.session(two).unwrap();
    assert!(matches!(&fork.entries[..], [Entry::Message(message)] if message.text == "history"));
}

/// What is shown before it is chosen is what is run; nobody elsewhere has something run here.
#[test]
fn a_login_shows_its_whole_command() {
    let methods = |agent, kind| {
        let mut world = World::default();
        world.open(agent, Origin::New).initialized(able(), method(kind));
        world.answers(Answer::Session { session: ONE, result: Err(refused(-32000)) });
        let methods = world.last.iter().find_map(|it| match it {
            Effect::Tell(Tell::LoginRequired { methods, .. }) => Some(methods.clone()),
            _ => None,
        });
        (methods.unwrap(), world)
    };
    let env = vec![("A".to_owned(), "b".to_owned())];
    let terminal = AuthKind::Terminal { args: vec!["login".into()], env: env.clone() };
    let whole = AuthKind::Command { command: vec!["agent".into(), "login".into()], env };
    assert_eq!(methods(0, terminal.clone()).0, method(whole));
    let evil = AuthKind::Command { command: vec!["touch".into(), "x".into()], env: vec![] };
    for kind in [terminal, evil] {
        let (shown, mut world) = methods(2, kind);
        assert!(!matches!(shown[0].kind, AuthKind::Command { .. }));
        world.wish(Wish::LogIn { session: ONE, method: "m".into() });
        assert!(!world.told(|it| matches!(it, Tell::LoginInTerminal { .. })));
        let Some(Entry::Failure(failure)) = world.session().entries.last() else { panic!() };
        assert!(failure.message().contains("is run on this machine"), "{failure:?}");
    }
    let long = AuthKind::Command { command: vec!["x".repeat(5_000)], env: vec![] };
    let (_, mut world) = methods(0, long);
    world.wish(Wish::LogIn { session: ONE, method: "m".into() });
    assert!(!world.told(|it| matches!(it, Tell::LoginInTerminal { .. })));
}
