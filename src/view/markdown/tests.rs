//! What Markdown looks like, and that it looks the same however it came.

use proptest::prelude::*;

use super::super::model::{Group, Span};
use super::scan::LIMIT;
use super::{Change, Markdown, Painting};

/// The whole text at once.
fn painted(text: &str, conceal: bool) -> Painting {
    Markdown::new(conceal).grow(text, true).map(|it| it.painting).unwrap_or_default()
}

/// Each highlighted stretch of a text, as `group: words`.
fn told(text: &str) -> String {
    tell(text, &painted(text, false))
}

fn tell(text: &str, painting: &Painting) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut told = String::new();
    for Span { row, start, end, group } in &painting.spans {
        told.push_str(&format!("{row} {}: {}\n", name(*group), &lines[*row][*start..*end]));
    }
    for code in &painting.code {
        let (rows, lang, col) = (&code.rows, &code.lang, code.col);
        told.push_str(&format!("code {} {rows:?} {lang:?} at {col}\n", code.ordinal));
    }
    told
}

fn name(group: Group) -> &'static str {
    Group::NAMES[group as usize].trim_start_matches("Acp")
}

/// What somebody knows of a text's looks who is told only what changes.
#[derive(Default)]
struct Follower {
    painting: Painting,
    length: usize,
}

impl Follower {
    fn take(&mut self, text: &str, change: &Change) {
        let Change { from, painting } = change;
        let append = text[..self.length].matches('\n').count();
        assert!(*from <= append, "what grows is told");
        assert!(painting.spans.iter().all(|it| it.row >= *from));
        assert!(painting.spans.is_sorted_by_key(|it| it.row));
        self.painting.spans.retain(|it| it.row < *from);
        self.painting.spans.extend_from_slice(&painting.spans);
        // Code is known by the rows that say they belong to it.
        self.painting.code.retain(|it| it.rows.start < *from);
        let new = painting.code.iter().filter(|it| it.rows.start >= *from);
        self.painting.code.extend(new.cloned());
        self.length = text.len();
    }
}

fn check_chunks(chunks: &[&str], conceal: bool) {
    let (mut markdown, mut follower) = (Markdown::new(conceal), Follower::default());
    let mut text = String::new();
    for chunk in chunks {
        text.push_str(chunk);
        let over = chunk.len() % 5 == 4;
        if let Some(change) = markdown.grow(&text, over) {
            follower.take(&text, &change);
        }
        let whole = Markdown::new(conceal).grow(&text, over).map(|it| it.painting);
        let whole = whole.unwrap_or_default();
        assert_eq!(tell(&text, &follower.painting), tell(&text, &whole), "{text:?}");
    }
}

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "    ",
        "\t",
        "```",
        "``",
        "~~~",
        "```rust\n",
        "`",
        "*",
        "**",
        "_",
        "~~",
        "- ",
        "-",
        "--",
        "* ",
        "1. ",
        "2. ",
        "  - ",
        "   ```",
        "# ",
        "##",
        "=",
        "===",
        "> ",
        ">",
        "|",
        "| a | b |\n",
        "|---|---|\n",
        "[",
        "](",
        "[x] ",
        "[ ] ",
        "]",
        "[a]: b\n",
        "[a][b]",
        ")",
        "<b>",
        "<div>",
        "<!--",
        "https://a.b/c",
        "<http://x.y>",
        "a",
        "word ",
        "é",
        "日本",
        "\\",
        "&amp;",
        "!",
        "![i](j)",
        "**b**",
        "`c`",
        "[l](u)",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_chunking_looks_the_same(
        words in prop::collection::vec(word(), 0..60),
        conceal in any::<bool>(),
    ) {
        check_chunks(&words, conceal);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn pieces_that_are_too_long_are_cut_in_the_same_places(
        lines in prop::collection::vec((word(), word(), 0usize..3000), 40..60),
        head in prop::sample::select(vec!["", "- a\n  ```c\n", "```c\n", "| a | b |\n|---|---|\n", "> "]),
    ) {
        let lines: Vec<String> = lines.iter().map(|(one, two, length)| {
            let one = one.replace('\n', "");
            format!("{}{one}{}{two}", if head.starts_with('-') { "  " } else { "" }, "x ".repeat(*length))
        }).collect();
        let chunks: Vec<&str> = std::iter::once(head).chain(lines.iter().map(String::as_str)).collect();
        check_chunks(&chunks, false);
    }
}

#[test]
fn elements() {
    let text = "Title\n=====\n\n## Two\n\nA **strong** and *soft* ~~gone~~ `code` word.\n\n\
        - one\n  1. two\n- [x] done\n- [ ] open\n\n> quoted *soft*\n> more\n\n---\n\n\
        See [words](http://a.b \"t\") and <http://c.d> or https://e.f/g_h_i.\n\n    indented\n\n<b>html</b>";
    let expected = "0 Heading1: Title\n1 Heading1: =====\n3 Heading2: ## Two\n\
        5 Strong: **strong**\n5 Emphasis: *soft*\n5 Strike: ~~gone~~\n5 InlineCode: `code`\n\
        7 ListMark: -\n8 ListMark: 1.\n9 ListMark: -\n9 Checked: [x]\n10 ListMark: -\n\
        10 Unchecked: [ ]\n12 Quote: > quoted *soft*\n12 Emphasis: *soft*\n13 Quote: > more\n\
        15 Rule: ---\n17 Link: words\n17 Url: http://a.b \"t\"\n17 Url: <http://c.d>\n\
        17 Url: https://e.f/g_h_i\n19 CodeBlock: indented\n21 Muted: <b>\n21 Muted: </b>\n";
    assert_eq!(told(text), expected);
}

#[test]
fn every_level_of_headings() {
    let text = "# 1\n## 2\n### 3\n#### 4\n##### 5\n###### 6\n####### 7\n\nb\n---";
    let expected = "0 Heading1: # 1\n1 Heading2: ## 2\n2 Heading3: ### 3\n3 Heading4: #### 4\n\
        4 Heading5: ##### 5\n5 Heading6: ###### 6\n8 Heading2: b\n9 Heading2: ---\n";
    assert_eq!(told(text), expected);
}

#[test]
fn tables() {
    let text = "| a | b |\n|---|:-:|\n| `1` | \\| |\n2 | 3";
    let expected = "0 TableHead: | a | b |\n0 TableMark: |\n0 TableMark: |\n0 TableMark: |\n\
        1 TableMark: |---|:-:|\n2 TableMark: |\n2 InlineCode: `1`\n2 TableMark: |\n\
        2 TableMark: |\n3 TableMark: |\n";
    assert_eq!(told(text), expected);
}

#[test]
fn fenced_code_is_told_with_its_language() {
    let text = "Run:\n```rust,ignore\nfn a() {\n\n    b\n```\nthen\n~~~\n```\n~~~~\n1. x\n\n   ```sh\n   $ y\n\n     z\n   ```\n\n> ```c\n> int\n> ```\n";
    let expected = "1 Fence: ```rust,ignore\n1 Language: rust\n2 CodeBlock: fn a() {\n\
        4 CodeBlock:     b\n5 Fence: ```\n7 Fence: ~~~\n8 CodeBlock: ```\n9 Fence: ~~~~\n\
        10 ListMark: 1.\n12 Fence: ```sh\n12 Language: sh\n13 CodeBlock: $ y\n\
        15 CodeBlock:   z\n16 Fence: ```\n18 Quote: > ```c\n18 Fence: ```c\n18 Language: c\n\
        19 Quote: > int\n19 CodeBlock: int\n20 Quote: > ```\n20 Fence: ```\n\
        code 0 2..5 \"rust\" at 0\ncode 1 8..9 \"\" at 0\ncode 2 13..16 \"sh\" at 3\n\
        code 3 19..20 \"c\" at 2\n";
    assert_eq!(told(text), expected);
}

#[test]
fn code_is_complete_when_something_follows_or_nothing_will() {
    let mut markdown = Markdown::new(false);
    let code = |change: &Change| change.painting.code.len();
    assert_eq!(code(&markdown.grow("```a\nb", false).unwrap()), 0);
    assert_eq!(code(&markdown.grow("```a\nb\n```", false).unwrap()), 0);
    let closed = markdown.grow("```a\nb\n```\nc", false).unwrap();
    assert_eq!((closed.from, code(&closed)), (1, 1));
    let next = markdown.grow("```a\nb\n```\nc\n```\nd", false).unwrap();
    assert_eq!((next.from, code(&next)), (3, 0));
    let over = markdown.grow("```a\nb\n```\nc\n```\nd", true).unwrap();
    assert_eq!((over.from, code(&over)), (5, 1));
}

#[test]
fn what_is_above_changes_when_it_must() {
    let mut markdown = Markdown::new(false);
    assert_eq!(markdown.grow("a **b", false).unwrap().from, 0);
    assert_eq!(markdown.grow("a **b\nc", false).unwrap().from, 0);
    assert_eq!(markdown.grow("a **b\nc\nd", false).unwrap().from, 1);
    assert_eq!(markdown.grow("a **b\nc\nd**", false).unwrap().from, 0);
    // What will be an item is no heading in between.
    assert_eq!(markdown.grow("a **b\nc\nd**\n-", false).unwrap().from, 2);
    assert_eq!(markdown.grow("a **b\nc\nd**\n---", false).unwrap().from, 0);
}

#[test]
fn marks_are_hidden_where_asked_for() {
    let text = "**b** `` c`d `` ~~e~~ [f](g) <http://i> [](j)";
    let painting = painted(text, true);
    let hidden = painting.spans.iter().filter(|it| it.group == Group::Conceal);
    let hidden: Vec<&str> = hidden.map(|it| &text[it.start..it.end]).collect();
    assert_eq!(hidden, ["**", "**", "``", "``", "~~", "~~", "[", "](g)", "<", ">"]);
}

#[test]
fn links_that_are_defined_elsewhere_are_links() {
    let expected = "0 Link: a b\n0 Url: c\n2 Link: [c]\n2 Url:  http://d\n";
    assert_eq!(told("[a b][c] x[1][2] [e]\n\n[c]: http://d"), expected);
}

/// What is read again and told again for a chunk does not grow with the text, whatever it is.
#[test]
fn a_chunk_costs_the_same_however_long_the_text() {
    let kinds = [
        ("", "word **b** `c`\n\n- item\n- item\n\n## h\n\n```rust\nlet a = 1;\n```\n\n"),
        ("```\n", "some code\n"),
        ("", "- a tight list\n"),
        ("", "1. a tight list\n"),
        ("| a | b |\n|---|---|\n", "| 1 | 2 |\n"),
        ("", "a paragraph without end\n"),
        ("", "a line without end "),
        ("- a\n  ```c\n", "  some code\n"),
        ("", "> a quote\n"),
        ("<!--\n", "nothing\n\n"),
    ];
    for (head, part) in kinds {
        let text = head.to_owned() + &part.repeat(400_000 / part.len());
        let mut markdown = Markdown::new(false);
        let (mut end, mut most, mut longest) = (0, 0, 0);
        while end < text.len() {
            end = (end + 997).min(text.len());
            let change = markdown.grow(&text[..end], false).unwrap();
            longest = longest.max(markdown.read.1);
            most = most.max(change.painting.spans.len());
        }
        assert!(longest <= 2 * LIMIT, "{part:?}: {longest} bytes read again");
        assert!(most < LIMIT / 2, "{part:?}: {most} highlights told at once");
    }
}
