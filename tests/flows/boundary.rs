//! Which files an agent touches unasked: by where its paths lead, and by both their names.

use acp_nvim::session::effect::{Effect, Tell};
use acp_nvim::session::event::{RealPath, Request, Wish};
use acp_nvim::session::ids::AskId;
use acp_nvim::session::question::{Body, Question};
use acp_nvim::session::rule::{Rule, Verdict};

use crate::world::World;

fn read(path: &str) -> Request {
    Request::ReadFile { remote: "r1".into(), path: path.into(), line: None, limit: None }
}

fn write(path: &str) -> Request {
    Request::WriteFile { remote: "r1".into(), path: path.into(), text: "t".into() }
}

fn list(path: &str) -> Request {
    Request::ListDirectory { remote: "r1".into(), path: path.into() }
}

fn real(path: &str) -> RealPath {
    let inside = path == "/project" || path.starts_with("/project/");
    RealPath { path: path.to_owned(), inside, repository: false }
}

/// What the user is asked, if anything; else where the way leads to.
fn outcome(world: &World) -> String {
    let found = world.last.iter().find_map(|it| match it {
        Effect::Tell(Tell::Asked(_, Question { body, .. })) => Some(match body {
            Body::Permission(it) => it.title.clone(),
            Body::Read(it) => format!("reads {}", it.path),
            Body::Write { path, .. } => format!("writes {path}"),
            other => panic!("{other:?}"),
        }),
        Effect::ListDisk(_, path) => Some(format!("lists {path}")),
        Effect::Reply { answer: Err(error), .. } => Some(error.message.clone()),
        _ => None,
    });
    found.unwrap_or_default()
}

#[test]
fn what_is_touched_unasked() {
    let outside = "outside of the project";
    let own = "part of the repository itself";
    for (request, leads, expected) in [
        (read("a"), "/project/a", "reads /project/a".to_owned()),
        (read("link"), "/project/a", "reads /project/a".to_owned()),
        (read("link"), "/etc/passwd", format!("read /etc/passwd ({outside})")),
        (write("a"), "/project/a", "writes /project/a".to_owned()),
        (write("link"), "/home/x", format!("write /home/x ({outside})")),
        (list("."), "/project", "lists /project".to_owned()),
        (list("/project/src"), "/project/src", "lists /project/src".to_owned()),
        (list("/projects"), "/projects", format!("list /projects ({outside})")),
        (list("link"), "/home", format!("list /home ({outside})")),
        // What is written there is run.
        (
            write(".git/config"),
            "/project/.git/config",
            format!("write /project/.git/config ({own})"),
        ),
        (
            write("sub/.GIT/hooks/x"),
            "/project/sub/.GIT/hooks/x",
            format!("write /project/sub/.GIT/hooks/x ({own})"),
        ),
        (write(".git"), "/project/.git", format!("write /project/.git ({own})")),
        (write(".hg/hgrc"), "/project/.hg/hgrc", format!("write /project/.hg/hgrc ({own})")),
        (
            write(".jj/repo/config.toml"),
            "/project/.jj/repo/config.toml",
            format!("write /project/.jj/repo/config.toml ({own})"),
        ),
        (write(".git/x"), "/project/elsewhere/x", format!("write /project/elsewhere/x ({own})")),
        (write("link"), "/project/.git/x", format!("write /project/.git/x ({own})")),
        (write(".github/x"), "/project/.github/x", "writes /project/.github/x".to_owned()),
        (write(".gitignore"), "/project/.gitignore", "writes /project/.gitignore".to_owned()),
        // What is read there may be a token.
        (read(".git/config"), "/project/.git/config", format!("read /project/.git/config ({own})")),
        (
            read(".git/modules/a/config"),
            "/project/.git/modules/a/config",
            format!("read /project/.git/modules/a/config ({own})"),
        ),
        (read(".git/HEAD"), "/project/.git/HEAD", "reads /project/.git/HEAD".to_owned()),
        (read("config"), "/project/config", "reads /project/config".to_owned()),
        (list(".git"), "/project/.git", "lists /project/.git".to_owned()),
        // Both names count.
        (read(".env"), "/project/.env", "read /project/.env (private)".to_owned()),
        (read(".env"), "/project/settings", "read /project/settings (private)".to_owned()),
        (read("settings"), "/project/.env", "read /project/.env (private)".to_owned()),
        (read(".env/"), "/project/.env", "read /project/.env (private)".to_owned()),
    ] {
        let mut world = World::running();
        world.wish(Wish::SetPrivate(vec![".env".into()]));
        world.requests_file(request, real(leads));
        assert_eq!(outcome(&world), expected);
    }
}

#[test]
fn a_repository_is_known_by_what_it_looks_like_too() {
    let bare = |path: &str| RealPath { path: path.into(), inside: true, repository: true };
    let mut world = World::running();
    world.requests_file(write("bare/hooks/x"), bare("/project/bare/hooks/x"));
    assert!(outcome(&world).contains("part of the repository itself"), "{}", outcome(&world));
    world.requests_file(read("bare/config"), bare("/project/bare/config"));
    assert!(outcome(&world).contains("part of the repository itself"), "{}", outcome(&world));
    world.requests_file(read("bare/HEAD"), bare("/project/bare/HEAD"));
    assert_eq!(outcome(&world), "reads /project/bare/HEAD");
}

#[test]
fn rules_allow_what_is_outside_and_nothing_that_is_the_repositorys_own() {
    let rule = |verdict, path: Option<&str>| Rule {
        verdict,
        path: path.map(ToOwned::to_owned),
        ..Rule::default()
    };
    let mut world = World::running();
    world.wish(Wish::SetRules(vec![rule(Verdict::Allow, None)]));
    world.requests_file(list("/home"), real("/home"));
    assert_eq!(outcome(&world), "lists /home");
    for allow in [None, Some("/project/.git/**"), Some("**")] {
        world.wish(Wish::SetRules(vec![rule(Verdict::Allow, allow)]));
        world.requests_file(write(".git/config"), real("/project/.git/config"));
        assert!(outcome(&world).ends_with("(part of the repository itself)"), "{allow:?}");
        let permission = world.last.iter().find_map(|it| match it {
            Effect::Tell(Tell::Asked(_, Question { body: Body::Permission(it), .. })) => Some(it),
            _ => None,
        });
        assert_eq!(
            permission.map(|it| it.rule.is_none()),
            Some(true),
            "and no such rule is offered"
        );
    }
    world.wish(Wish::SetRules(vec![rule(Verdict::Reject, Some("/project/.git/**"))]));
    world.requests_file(write(".git/config"), real("/project/.git/config"));
    assert!(outcome(&world).contains("a rule of the user forbids it"));
}

/// A late word from the disk is about a question that is settled, or about another.
#[test]
fn a_question_to_the_user_is_not_resolved_again() {
    let mut world = World::running();
    world.requests_file(read("link"), real("/etc/passwd"));
    world.event(acp_nvim::session::event::Event::Resolved {
        ask: AskId(1),
        real: real("/project/a"),
    });
    assert_eq!(world.last, []);
}
