//! What was typed and not sent: it survives windows, sessions and Neovims.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::rc::Rc;

use rustix::process::Signal;
use serde_json::json;

use crate::plugin::{open, wait_state};
use crate::prompt::{again, echo, say, state_path, wait_text, with_setup};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// A chat with a draft, in normal mode.
fn drafting(target: &Target) -> Nvim {
    let mut nvim = with_setup(target, Options::default(), &echo(), &json!({}));
    open(&mut nvim, "AcpChat");
    wait_state(&mut nvim, "ready");
    nvim.type_keys("half a\nthought");
    nvim.input("<Esc>");
    wait_text(&mut nvim, "half a\nthought");
    nvim
}

fn show(nvim: &mut Nvim, command: &str) {
    nvim.input(&format!("<Esc>:{command}<CR>"));
    nvim.wait_until("the prompt has the cursor", DEADLINE, |nvim| {
        nvim.lua("return vim.bo.filetype", json!([])) == "acp_prompt"
    });
}

fn files(nvim: &mut Nvim) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(state_path(nvim, "drafts"));
    folder.map_or_else(|_| Vec::new(), |it| it.map(|entry| entry.unwrap().path()).collect())
}

nvim_tests! {
    fn a_draft_survives_quit_and_wipe(target: &Target) {
        let mut nvim = drafting(target);
        nvim.command("quit");
        show(&mut nvim, "AcpChat");
        wait_text(&mut nvim, "half a\nthought");
        nvim.command("edit");
        wait_text(&mut nvim, "half a\nthought");
        nvim.command("set nowinfixbuf | bwipeout!");
        show(&mut nvim, "AcpChat");
        wait_text(&mut nvim, "half a\nthought");
    }

    fn a_draft_goes_to_the_next_chat_of_the_project(target: &Target) {
        let mut nvim = drafting(target);
        // Another chat begins empty while the draft has a home.
        open(&mut nvim, "AcpChat!");
        wait_text(&mut nvim, "");
        nvim.input("<Esc>:Acp close 1<CR>");
        nvim.wait_until("the end of its buffer", DEADLINE, |nvim| {
            nvim.lua("return vim.fn.bufexists('acp://1/fake/prompt')", json!([])) == 0
        });
        show(&mut nvim, "AcpChat!");
        wait_text(&mut nvim, "half a\nthought");
        assert_eq!(nvim.lua("return vim.api.nvim_win_get_cursor(0)[1]", json!([])), 2);
        // It is handed out once.
        open(&mut nvim, "AcpChat!");
        wait_text(&mut nvim, "");
    }

    fn a_draft_survives_a_restart(target: &Target) {
        let mut nvim = drafting(target);
        let scratch = Rc::clone(nvim.scratch());
        nvim.quit();
        let mut nvim = again(target, &scratch);
        show(&mut nvim, "AcpChat");
        wait_text(&mut nvim, "half a\nthought");
        nvim.input("cc");
        nvim.quit();
        let mut nvim = again(target, &scratch);
        show(&mut nvim, "AcpChat");
        wait_text(&mut nvim, "half a\n");
        nvim.input("<Esc>ggdGi");
        say(&mut nvim, "done");
        nvim.quit();
        let mut nvim = again(target, &scratch);
        open(&mut nvim, "AcpChat");
        wait_text(&mut nvim, "");
        assert_eq!(files(&mut nvim), Vec::<PathBuf>::new());
    }

    fn a_draft_survives_a_kill(target: &Target) {
        let mut nvim = drafting(target);
        let scratch = Rc::clone(nvim.scratch());
        let file = nvim.wait_for("the file", DEADLINE, |nvim| files(nvim).into_iter().next());
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        // A Neovim that runs keeps its drafts to itself.
        let mut other = again(target, &scratch);
        open(&mut other, "AcpChat");
        wait_text(&mut other, "");
        nvim.kill(Signal::KILL);
        nvim.wait_exit(DEADLINE);
        show(&mut other, "AcpChat!");
        wait_text(&mut other, "half a\nthought");
    }
}
