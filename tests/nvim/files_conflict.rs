//! Lines that both the user and an agent have changed: put together by hand, or left alone.

use serde_json::{Value, json};

use crate::files::{lua, read, start, write};
use crate::files_disk::{edited, modified, on_disk, open};
use crate::files_merge::{begin, pause, release};
use crate::plugin::open_choices;
use crate::report::{finish, wait_answers};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// What the user makes of a conflict.
#[derive(Debug, Clone, Copy)]
enum Pick {
    Edit,
    Later,
}

/// Answers the conflict that waits.
fn choose(nvim: &mut Nvim, pick: Pick) {
    open_choices(nvim, "Keep your lines");
    nvim.input(match pick {
        Pick::Edit => "e",
        Pick::Later => "<Esc>",
    });
    nvim.wait_until("the choice to go", DEADLINE, |nvim| {
        nvim.screen().find("Keep your lines").is_none()
    });
}

/// Puts both together by hand: the user's line, otherwise, and the agent's after it.
fn edit(nvim: &mut Nvim, while_at_it: impl FnOnce(&mut Nvim)) {
    choose(nvim, Pick::Edit);
    nvim.wait_screen("<<<<<<< yours");
    lua(nvim, "vim.cmd([[g/^[<=>]\\{7}/d]]) vim.cmd('%s/mine/ours/e')");
    while_at_it(nvim);
    nvim.input(":write<CR>");
    nvim.wait_until("the editor to be gone", DEADLINE, |nvim| {
        lua(nvim, "return #vim.api.nvim_list_wins()") == 1
    });
}

/// Whether nobody looks after the files any more.
fn wait_idle(nvim: &mut Nvim) {
    nvim.wait_until("the turn to be over for good", DEADLINE, |nvim| {
        lua(nvim, "return #vim.api.nvim_get_autocmds({ event = 'FileChangedShell' })") == 0
    });
}

const THEIRS: &str = "THEIRS\ntwo\nthree\nfour\n5\n";
const BOTH: &str = "ours\nTHEIRS\ntwo\nthree\nfour\n5\n";

/// An agent that has written the line that the user has changed.
fn clash(target: &Target, then: &[Value]) -> Nvim {
    let mut steps = vec![on_disk("a.txt", THEIRS), edited("a.txt")];
    steps.extend_from_slice(then);
    let mut nvim = open(target, &steps);
    nvim.command("1 substitute/one/mine/");
    release(&nvim, "go1");
    nvim
}

fn text(nvim: &mut Nvim) -> String {
    nvim.lines(0).iter().map(|it| format!("{it}\n")).collect()
}

/// The buffer has what the user made of it, and is saved without a question.
fn is_kept(nvim: &mut Nvim, merged: &str) {
    nvim.wait_until("the merge", DEADLINE, |nvim| text(nvim) == merged);
    wait_idle(nvim);
    nvim.command("checktime");
    assert_eq!(text(nvim), merged);
    assert!(modified(nvim), "what the disk does not have is not saved");
    nvim.input(":write<CR>");
    nvim.wait_until("the file to be saved", DEADLINE, |nvim| !modified(nvim));
    assert_eq!(nvim.scratch().read("a.txt"), merged);
    let messages = nvim.messages();
    assert!(!messages.contains("W1") && !messages.contains("changed since"), "{messages}");
}

nvim_tests! {
    fn what_was_put_together_by_hand_is_kept(target: &Target) {
        for running in [true, false] {
            let mut nvim = clash(target, &[pause("go2")]);
            if running {
                edit(&mut nvim, |_| {});
                nvim.wait_until("the merge", DEADLINE, |nvim| text(nvim) == BOTH);
                assert!(modified(&mut nvim));
                release(&nvim, "go2");
                finish(&mut nvim);
            } else {
                release(&nvim, "go2");
                finish(&mut nvim);
                edit(&mut nvim, |_| {});
            }
            is_kept(&mut nvim, BOTH);
        }
    }

    fn who_discards_the_buffer_has_nothing_to_settle(target: &Target) {
        for discard in ["bdelete!", "bwipeout!", "edit!"] {
            let theirs = "one\ntheirs\nthree\n";
            let mut nvim = start(target, Options::default(), &[read("a.txt"), pause("go1"), write("a.txt", theirs), pause("go2")]);
            nvim.scratch().write("a.txt", "one\ntwo\nthree\n");
            nvim.command("edit a.txt");
            begin(&mut nvim, 1);
            nvim.command("2 substitute/two/mine/");
            release(&nvim, "go1");
            choose(&mut nvim, Pick::Later);
            nvim.command(discard);
            let answer = &wait_answers(&mut nvim, 2)[1];
            assert!(answer["error"]["message"].as_str().unwrap_or_default().contains("the user has discarded the buffer"), "{answer}");
            nvim.input(":Acp permissions<CR>");
            nvim.wait_screen("Nothing waits for your answer");
            assert_eq!(nvim.scratch().read("a.txt"), "one\ntwo\nthree\n", "{discard}");
            release(&nvim, "go2");
            finish(&mut nvim);
        }
    }

    fn who_reads_the_file_again_has_what_the_agent_wrote(target: &Target) {
        let mut nvim = clash(target, &[pause("go2")]);
        choose(&mut nvim, Pick::Later);
        nvim.command("edit!");
        assert_eq!((text(&mut nvim), modified(&mut nvim)), (THEIRS.to_owned(), false));
        nvim.input(":Acp permissions<CR>");
        nvim.wait_screen("Nothing waits for your answer");
        release(&nvim, "go2");
        finish(&mut nvim);
        wait_idle(&mut nvim);
        assert_eq!((text(&mut nvim), modified(&mut nvim)), (THEIRS.to_owned(), false));
    }

    fn half_a_file_is_no_conflict_any_more_when_it_is_whole(target: &Target) {
        for shown in [false, true] {
            let mut nvim = open(target, &[
                on_disk("a.txt", "one\nTW"), edited("a.txt"), pause("go2"),
                on_disk("a.txt", "one\nTWO\nthree\nfour\nfive\n"), edited("a.txt"), pause("go3"),
            ]);
            nvim.command("5 substitute/five/mine/");
            release(&nvim, "go1");
            choose(&mut nvim, Pick::Later);
            if shown {
                open_choices(&mut nvim, "Keep your lines");
            }
            release(&nvim, "go2");
            let lines = "return vim.fn.getbufline('a.txt', 1, '$')";
            nvim.wait_until("the whole file", DEADLINE, |nvim| {
                lua(nvim, lines) == json!(["one", "TWO", "three", "four", "mine"])
            });
            nvim.wait_until("nothing to be asked", DEADLINE, |nvim| {
                lua(nvim, "return require('acp.questions').count()") == 0 && nvim.screen().find("Keep your lines").is_none()
            });
            release(&nvim, "go3");
            finish(&mut nvim);
            is_kept(&mut nvim, "one\nTWO\nthree\nfour\nmine\n");
        }
    }

    fn what_comes_while_it_is_put_together_comes_after_it(target: &Target) {
        let more = THEIRS.replace("three", "THREE");
        let mut nvim = clash(target, &[pause("go2"), on_disk("a.txt", &more), edited("a.txt"), pause("go3")]);
        edit(&mut nvim, |nvim| {
            release(nvim, "go2");
            nvim.wait_until("the other write", DEADLINE, |nvim| nvim.scratch().read("a.txt") == more);
        });
        release(&nvim, "go3");
        finish(&mut nvim);
        is_kept(&mut nvim, &BOTH.replace("three", "THREE"));
    }

    fn who_takes_all_of_the_agents_by_hand_has_nothing_to_save(target: &Target) {
        let mut nvim = clash(target, &[]);
        finish(&mut nvim);
        edit(&mut nvim, |nvim| { nvim.command("g/ours/d"); });
        nvim.wait_until("the merge", DEADLINE, |nvim| text(nvim) == THEIRS);
        assert!(!modified(&mut nvim));
        wait_idle(&mut nvim);
        nvim.command("undo");
        assert_eq!(nvim.lines(0)[0], "mine");
        nvim.wait_until("the buffer to be modified", DEADLINE, modified);
    }
}
