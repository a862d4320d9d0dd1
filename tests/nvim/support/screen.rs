//! Paints what Neovim tells its UI to paint. Knows the redraw events, not how they arrive.
//!
//! Only whole frames are shown: what was painted since the last `flush` is not on the screen yet.

use std::collections::HashMap;
use std::rc::Rc;

use rmpv::Value;

/// What is on the screen at one moment. Rows and columns count cells from zero.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Row and column.
    pub(crate) cursor: (usize, usize),
    /// As Neovim names it: `normal`, `insert`, `cmdline_normal`, …
    pub(crate) mode: String,
    cells: Vec<Cell>,
    palette: Rc<Palette>,
}

/// How a cell looks. Colours are what the eye would see but for `reverse`: a cell with none of its
/// own has the default ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Highlight {
    pub(crate) foreground: u32,
    pub(crate) background: u32,
    pub(crate) special: u32,
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) reverse: bool,
    pub(crate) strikethrough: bool,
    pub(crate) underline: bool,
    pub(crate) undercurl: bool,
    /// The highlight groups it was mixed from, lowest first.
    pub(crate) groups: Vec<String>,
}

/// The screen of one Neovim.
pub(crate) struct Screen {
    painting: Frame,
    shown: Frame,
    frames: u64,
    smuggled: Vec<String>,
}

#[derive(Clone)]
struct Cell {
    /// Empty for the right half of a wide character.
    text: Rc<str>,
    highlight: u64,
}

#[derive(Clone, Default)]
struct Palette {
    defaults: Highlight,
    /// The attributes as they came: defaults may change later.
    defined: HashMap<u64, Attributes>,
    groups: HashMap<String, u64>,
}

#[derive(Clone)]
struct Attributes {
    rgb: Vec<(Value, Value)>,
    groups: Vec<String>,
}

impl Frame {
    /// One row as text, without the blanks at its end.
    pub(crate) fn row(&self, row: usize) -> String {
        let cells = &self.cells[row * self.width..(row + 1) * self.width];
        let text: String = cells.iter().map(|it| &*it.text).collect();
        text.trim_end().to_owned()
    }

    /// All rows as text.
    pub(crate) fn rows(&self) -> Vec<String> {
        (0..self.height).map(|row| self.row(row)).collect()
    }

    /// The whole screen, one line a row, as kept in snapshots.
    pub(crate) fn text(&self) -> String {
        self.rows().iter().map(|row| format!("{row}\n")).collect()
    }

    /// Row and column of the first cell where the text begins.
    pub(crate) fn find(&self, text: &str) -> Option<(usize, usize)> {
        (0..self.height).find_map(|row| {
            let cells = &self.cells[row * self.width..(row + 1) * self.width];
            let starts_here = |&col: &usize| {
                let rest: String = cells[col..].iter().map(|it| &*it.text).collect();
                !cells[col].text.is_empty() && rest.starts_with(text)
            };
            (0..self.width).find(starts_here).map(|col| (row, col))
        })
    }

    /// The character in a cell; empty for the right half of a wide one.
    pub(crate) fn cell(&self, row: usize, col: usize) -> &str {
        &self.at(row, col).text
    }

    /// How the cell looks.
    pub(crate) fn highlight(&self, row: usize, col: usize) -> Highlight {
        self.palette.look(self.at(row, col).highlight)
    }

    /// How one of Neovim's own groups looks (`Visual`, `StatusLine`, …); plugin groups are not
    /// announced.
    pub(crate) fn builtin_group(&self, name: &str) -> Option<Highlight> {
        self.palette.groups.get(name).map(|&id| self.palette.look(id))
    }

    fn at(&self, row: usize, col: usize) -> &Cell {
        assert!(row < self.height && col < self.width, "no cell at row {row}, column {col}");
        &self.cells[row * self.width + col]
    }
}

impl Screen {
    /// A screen on which nothing was painted yet.
    pub(crate) fn new() -> Screen {
        let painting = Frame {
            width: 0,
            height: 0,
            cursor: (0, 0),
            mode: String::new(),
            cells: Vec::new(),
            palette: Rc::default(),
        };
        Screen { shown: painting.clone(), painting, frames: 0, smuggled: Vec::new() }
    }

    /// The last whole frame.
    pub(crate) fn shown(&self) -> &Frame {
        &self.shown
    }

    /// How many frames there were.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Texts of cells and titles, of any frame so far, that a terminal would obey or show otherwise
    /// than it was sent.
    pub(crate) fn smuggled(&self) -> &[String] {
        &self.smuggled
    }

    /// Takes in the parameters of one `redraw` notification.
    pub(crate) fn redraw(&mut self, batches: &[Value]) {
        for batch in batches {
            let (name, calls) = array(batch).split_first().unwrap();
            for call in calls {
                self.event(string(name), array(call));
            }
        }
    }

    fn event(&mut self, name: &str, args: &[Value]) {
        self.inspect(name, args);
        match name {
            "grid_resize" => self.painting.resize(number(&args[1]), number(&args[2])),
            "grid_clear" => self.painting.cells.fill(Cell::blank()),
            "grid_line" => self.painting.line(number(&args[1]), number(&args[2]), array(&args[3])),
            "grid_scroll" => self.painting.scroll(&args[1..]),
            "grid_cursor_goto" => self.painting.cursor = (number(&args[1]), number(&args[2])),
            "mode_change" => string(&args[0]).clone_into(&mut self.painting.mode),
            "default_colors_set" => self.palette().defaults = default_look(args),
            "hl_attr_define" => self.palette().define(args),
            "hl_group_set" => {
                self.palette().groups.insert(string(&args[0]).to_owned(), id(&args[1]));
            }
            "flush" => {
                self.shown = self.painting.clone();
                self.frames += 1;
            }
            // The rest is about titles, the mouse, options: nothing that shows in a cell.
            _ => {}
        }
    }

    fn inspect(&mut self, name: &str, args: &[Value]) {
        let texts: Vec<&str> = match name {
            "set_title" | "set_icon" => vec![string(&args[0])],
            "grid_line" => array(&args[3]).iter().map(|cell| string(&array(cell)[0])).collect(),
            _ => return,
        };
        self.smuggled.extend(texts.into_iter().filter(|it| it.contains(is_odd)).map(str::to_owned));
    }

    fn palette(&mut self) -> &mut Palette {
        Rc::make_mut(&mut self.painting.palette)
    }
}

impl Cell {
    fn blank() -> Cell {
        Cell { text: " ".into(), highlight: 0 }
    }
}

impl Frame {
    /// Keeps what still fits, as Neovim expects.
    fn resize(&mut self, width: usize, height: usize) {
        let mut cells = vec![Cell::blank(); width * height];
        for row in 0..height.min(self.height) {
            for col in 0..width.min(self.width) {
                cells[row * width + col] = self.at(row, col).clone();
            }
        }
        (self.width, self.height, self.cells) = (width, height, cells);
    }

    /// Each cell is a text, then perhaps a highlight and a count; a missing highlight is that of
    /// the cell before.
    fn line(&mut self, row: usize, col: usize, cells: &[Value]) {
        let (mut at, mut highlight) = (row * self.width + col, 0);
        for cell in cells.iter().map(array) {
            if let Some(given) = cell.get(1) {
                highlight = id(given);
            }
            let text: Rc<str> = string(&cell[0]).into();
            for _ in 0..cell.get(2).map_or(1, number) {
                self.cells[at] = Cell { text: text.clone(), highlight };
                at += 1;
            }
        }
    }

    /// Moves a region up (positive rows) or down; what is scrolled in is painted by later events.
    fn scroll(&mut self, args: &[Value]) {
        let [top, bottom, left, right] = [0, 1, 2, 3].map(|it| number(&args[it]));
        let distance = args[4].as_i64().unwrap();
        let gap = usize::try_from(distance.unsigned_abs()).unwrap();
        let width = self.width;
        let mut copy = |from: usize, to: usize| {
            for col in left..right {
                self.cells[to * width + col] = self.cells[from * width + col].clone();
            }
        };
        if distance > 0 {
            (top..bottom - gap).for_each(|row| copy(row + gap, row));
        } else {
            (top..bottom - gap).rev().for_each(|row| copy(row, row + gap));
        }
    }
}

impl Palette {
    fn define(&mut self, args: &[Value]) {
        let Value::Map(rgb) = &args[1] else { panic!("attributes are no map: {}", args[1]) };
        let group = |info: &Value| {
            let pairs = info.as_map()?;
            let name = get(pairs, "hi_name").or_else(|| get(pairs, "ui_name"))?;
            Some(name.as_str()?.to_owned())
        };
        let groups = array(&args[3]).iter().filter_map(group).collect();
        self.defined.insert(id(&args[0]), Attributes { rgb: rgb.clone(), groups });
    }

    fn look(&self, id: u64) -> Highlight {
        let Some(Attributes { rgb, groups }) = self.defined.get(&id) else {
            return self.defaults.clone();
        };
        let color = |name, default| match get(rgb, name).and_then(Value::as_i64) {
            Some(given) => color(given).unwrap_or(default),
            None => default,
        };
        let is = |name| get(rgb, name).and_then(Value::as_bool).unwrap_or(false);
        Highlight {
            foreground: color("foreground", self.defaults.foreground),
            background: color("background", self.defaults.background),
            special: color("special", self.defaults.special),
            bold: is("bold"),
            italic: is("italic"),
            reverse: is("reverse"),
            strikethrough: is("strikethrough"),
            underline: is("underline"),
            undercurl: is("undercurl"),
            groups: groups.clone(),
        }
    }
}

fn default_look(args: &[Value]) -> Highlight {
    let pick = |at: usize, fallback| args[at].as_i64().and_then(color).unwrap_or(fallback);
    Highlight {
        foreground: pick(0, 0xff_ff_ff),
        background: pick(1, 0),
        special: pick(2, 0xff_00_00),
        ..Highlight::default()
    }
}

/// Control characters, and those that change the direction of text or are not seen at all. What
/// joins others to one sign (U+200D) is part of ordinary text.
fn is_odd(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(it, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}')
}

/// Negative means "none given".
fn color(value: i64) -> Option<u32> {
    u32::try_from(value).ok()
}

fn get<'a>(pairs: &'a [(Value, Value)], name: &str) -> Option<&'a Value> {
    pairs.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("a redraw event has no array here: {value}"))
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a redraw event has no text here: {value}"))
}

fn id(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a redraw event has no number here: {value}"))
}

fn number(value: &Value) -> usize {
    usize::try_from(id(value)).unwrap()
}
