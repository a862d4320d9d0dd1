//! What the editor has of a project beside what is on the disk: most of it the core knows by
//! itself, and the editor is asked for the rest.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::changes::mirror::Mirror;
use crate::runtime::buffers::{BufferId, Buffers, Format};
use crate::runtime::disk;
use crate::runtime::merging::file_text;
use crate::runtime::snapshot::Extra;
use crate::session::live::Live;

/// How long the editor may take to tell what it has.
const EDITOR: Duration = Duration::from_millis(500);

/// What the editor has of a project.
#[derive(Debug, Default)]
pub struct Having {
    /// Files that are open.
    pub open: Vec<String>,
    /// Those with changes that are not saved.
    pub modified: Vec<(String, Unsaved)>,
}

/// The text of a buffer.
#[derive(Debug)]
pub enum Unsaved {
    /// As the editor has told it.
    Told(Live),
    /// As the core has it, and how it is written.
    Copy(Mirror, Format),
}

impl Unsaved {
    fn text(&self) -> Cow<'_, str> {
        match self {
            Unsaved::Told(live) => file_text(live),
            Unsaved::Copy(lines, format) => lines.slice(1, None, *format).into(),
        }
    }
}

impl Having {
    /// What is known without asking, and the buffers of which only the editor knows the text.
    pub(super) fn known(buffers: &Buffers, project: &Path) -> (Having, Vec<BufferId>) {
        let (mut having, mut others) = (Having::default(), Vec::new());
        for (id, known, copy) in buffers.below(project) {
            having.open.push(known.path.clone());
            match copy {
                None => others.push(id),
                Some(copy) if known.modified => {
                    let text = Unsaved::Copy(copy.clone(), known.format);
                    having.modified.push((known.path.clone(), text));
                }
                Some(_) => {}
            }
        }
        (having, others)
    }

    pub(super) fn extra(&self) -> Extra {
        let over = |(path, text): &(String, Unsaved)| {
            let path = PathBuf::from(path);
            let bytes = disk::encoded(&path, &text.text()).ok()?;
            Some((path, Some(bytes)))
        };
        let also = self.open.iter().map(PathBuf::from).collect();
        Extra { also, over: self.modified.iter().filter_map(over).collect() }
    }
}

/// What the editor has, and what it still has to tell.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) known: Having,
    pub(super) rest: Option<oneshot::Receiver<Having>>,
}

impl Asked {
    /// All of it, as far as the editor says so in time. It is put into bytes elsewhere.
    pub(super) async fn extra(self) -> impl FnOnce() -> Extra {
        let Asked { mut known, rest } = self;
        if let Some(rest) = rest
            && let Ok(Ok(told)) = timeout(EDITOR, rest).await
        {
            known.modified.extend(told.modified);
        }
        move || known.extra()
    }
}
