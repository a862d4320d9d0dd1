//! The harness notices what goes wrong, and sees every process to its end.

use std::os::unix::process::ExitStatusExt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::process::{alive, descendants, marked, signal, wait_gone};

/// Starts a shell that starts a sleeper, both ignoring the end of Neovim; returns their pids.
fn start_orphans(nvim: &mut Nvim) -> [u32; 2] {
    let code =
        "return vim.fn.jobpid(vim.fn.jobstart({ 'sh', '-c', 'sleep 1000; :' }, { detach = true }))";
    let job = nvim.lua(code, json!([])).as_u64().unwrap();
    let shell = u32::try_from(job).unwrap();
    let sleeper = nvim.wait_for("the sleeper", DEADLINE, |_| descendants(shell).first().copied());
    [shell, sleeper]
}

nvim_tests! {
    #[should_panic(expected = "there was an error")]
    fn error_message_fails_the_test(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.input(":nosuchcommand<CR>");
        nvim.wait_screen("E492");
    }

    #[should_panic(expected = "oh dear")]
    fn error_in_a_callback_fails_the_test(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.lua("vim.schedule(function() vim.g.ran = true error('oh dear') end)", json!([]));
        // A call would be held up by the prompt under the message.
        nvim.wait_screen("oh dear");
    }

    #[should_panic(expected = "stack traceback")]
    fn error_shown_as_a_message_fails_the_test(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.lua(
            "vim.schedule(function()
               vim.api.nvim_echo({ { debug.traceback('caught') } }, true, {})
             end)",
            json!([]),
        );
        nvim.wait_screen("caught");
    }

    #[should_panic(expected = "there was an error")]
    fn quit_checks_too(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.input(":nosuchcommand<CR>");
        nvim.wait_screen("E492");
        nvim.quit();
    }

    #[should_panic(expected = "should be silent: over the screen")]
    fn stderr_fails_the_test(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.lua("io.stderr:write('over the screen\\n')", json!([]));
    }

    fn errors_can_be_allowed(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.allow_errors();
        nvim.input(":nosuchcommand<CR>");
        nvim.wait_screen("E492");
        assert!(nvim.messages().contains("E492"));
    }

    fn failed_calls_keep_their_words(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let message = nvim.try_lua("error('so ' .. ...)", json!(["it goes"])).unwrap_err();
        assert!(message.contains("so it goes"), "{message}");
        let message = nvim.try_request("nvim_no_such", json!([]), DEADLINE).unwrap_err();
        assert!(message.contains("nvim_no_such"), "{message}");
    }

    #[should_panic(expected = "so it goes")]
    fn failed_lua_fails_the_test(target: &Target) {
        Nvim::start(target, Options::default()).lua("error('so it goes')", json!([]));
    }

    #[should_panic(expected = "in vain for pigs that fly")]
    fn waiting_ends_at_the_deadline(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.wait_until("pigs that fly", Duration::from_millis(50), |_| false);
    }

    fn prompts_are_told_from_slowness(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.input(":echo \"two\\nlines\"<CR>");
        nvim.wait_screen("Press ENTER");
        let since = Instant::now();
        let message = nvim.try_lua("return 1", json!([])).unwrap_err();
        assert!(message.contains("waits for a key"), "{message}");
        assert!(since.elapsed() < DEADLINE / 2);

        nvim.input("<CR>");
        assert_eq!(nvim.lua("return 2", json!([])), 2);
    }

    fn calls_to_a_stopped_neovim_end(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.kill(Signal::STOP);
        let much = "x".repeat(1_000_000);
        let message = nvim
            .try_request("nvim_exec_lua", json!(["return ...", [much]]), Duration::from_millis(100))
            .unwrap_err();
        assert!(message.contains("no answer within 100ms"), "{message}");
        nvim.kill(Signal::CONT);
        assert_eq!(nvim.lua("return 1", json!([])), 1);
    }

    fn quit_ends_neovim(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let pid = nvim.pid();
        assert!(alive(pid));
        assert_eq!(nvim.quit().code(), Some(0));
        assert!(!alive(pid));
    }

    fn typed_quit_can_be_awaited(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.input(":cquit 3<CR>");
        assert_eq!(nvim.wait_exit(DEADLINE).code(), Some(3));
    }

    fn kill_ends_neovim(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.kill(Signal::KILL);
        assert_eq!(nvim.wait_exit(DEADLINE).signal(), Some(Signal::KILL.as_raw()));
        wait_gone(&[nvim.pid()], Duration::ZERO);
        let message = nvim.try_lua("return 1", json!([])).unwrap_err();
        assert!(message.contains("hung up"), "{message}");
    }

    fn term_lets_neovim_say_goodbye(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.command("autocmd VimLeavePre * call writefile(['bye'], 'bye.txt')");
        nvim.kill(Signal::TERM);
        nvim.wait_exit(DEADLINE);
        assert_eq!(nvim.scratch().read("bye.txt"), "bye\n");
    }

    #[should_panic(expected = "it ended by itself")]
    fn death_is_noticed(target: &Target) {
        let nvim = Nvim::start(target, Options::default());
        signal(nvim.pid(), Signal::KILL);
        // A zombie counts as gone, so this does not need the harness to look.
        wait_gone(&[nvim.pid()], DEADLINE);
    }

    fn restart_finds_the_same_project(target: &Target) {
        let mut first = Nvim::start(target, Options::default());
        let scratch = Rc::clone(first.scratch());
        let path = scratch.write("deep/note.txt", "from the test\n");
        first.command("edit deep/note.txt");
        first.input("ofrom the first<Esc>:write<CR>");
        first.wait_screen("written");
        first.quit();

        let options = Options { scratch: Some(Rc::clone(&scratch)), ..Options::default() };
        let mut second = Nvim::start(target, options);
        let edit = json!({ "cmd": "edit", "args": [path.to_str().unwrap()] });
        second.request("nvim_cmd", json!([edit, {}]));
        assert_eq!(second.lines(0), ["from the test", "from the first"]);
        assert_ne!(first.mark(), second.mark());
        assert_eq!(scratch.read("deep/note.txt"), "from the test\nfrom the first\n");
    }

    fn more_neovims_than_places_in_one_test(target: &Target) {
        let start = || Nvim::start(target, Options { width: 20, height: 5, ..Options::default() });
        let all: Vec<_> = (0..4).map(|_| start()).collect();
        assert!(all.iter().all(|it| alive(it.pid())));
    }

    fn descendants_and_orphans_are_found(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let [shell, sleeper] = start_orphans(&mut nvim);
        let family = descendants(nvim.pid());
        assert!(family.contains(&shell) && family.contains(&sleeper), "{family:?}");

        nvim.kill(Signal::KILL);
        nvim.wait_exit(DEADLINE);
        assert!(alive(shell) && alive(sleeper));
        let mut found = marked(nvim.mark());
        found.sort_unstable();
        let mut expected = [shell, sleeper];
        expected.sort_unstable();
        assert_eq!(found, expected);

        expected.iter().for_each(|&pid| signal(pid, Signal::KILL));
        wait_gone(&expected, DEADLINE);
        assert!(marked(nvim.mark()).is_empty());
    }

    #[should_panic(expected = "it left behind")]
    fn orphans_fail_the_test(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        start_orphans(&mut nvim);
    }

    #[should_panic(expected = "sleep 1000")]
    fn survivors_are_named(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let [_, sleeper] = start_orphans(&mut nvim);
        wait_gone(&[sleeper], Duration::from_millis(20));
    }
}

#[test]
fn this_process_is_alive_and_unmarked() {
    let me = std::process::id();
    assert!(alive(me));
    assert!(!marked("PATH=").contains(&me));
}
