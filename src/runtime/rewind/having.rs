//! What the editor has of a project beside what is on the disk.

use std::path::PathBuf;

use super::Wanted;
use crate::runtime::buffers::{BufferId, Buffers, Format};
use crate::runtime::disk;
use crate::runtime::merging::file_text;
use crate::runtime::snapshot::Extra;
use crate::session::live::Live;

/// What the editor has of a project.
#[derive(Debug, Default)]
pub struct Having {
    /// Files that are open.
    pub open: Vec<String>,
    /// Those with changes that are not saved.
    pub modified: Vec<Unsaved>,
}

/// A file with changes that are not saved.
#[derive(Debug)]
pub struct Unsaved {
    /// Which.
    pub path: String,
    /// The buffer as it is.
    pub live: Live,
    /// Its text is that of the copy of this buffer.
    pub text_of: Option<BufferId>,
}

impl Wanted {
    /// Takes the texts of buffers from their copies: much of what is not saved is long.
    pub(in crate::runtime) fn fill(&mut self, buffers: &Buffers) {
        let (Wanted::Has(_, _, having) | Wanted::To { having, .. } | Wanted::Done(_, having)) =
            self
        else {
            return;
        };
        having.modified.retain_mut(|it| {
            let Some(id) = it.text_of else { return true };
            let Some(copy) = buffers.copy(id, it.live.tick) else {
                tracing::warn!(path = it.path, "what is not saved is not known");
                return false;
            };
            let lines = Format { final_eol: false, ..Format::default() };
            (it.live.text, it.live.empty) = (copy.slice(1, None, lines), copy.is_empty());
            true
        });
    }
}

impl Having {
    pub(super) fn extra(&self) -> Extra {
        let over = |it: &Unsaved| {
            let path = PathBuf::from(&it.path);
            let bytes = disk::encoded(&path, &file_text(&it.live)).ok()?;
            Some((path, Some(bytes)))
        };
        let also = self.open.iter().map(PathBuf::from).collect();
        Extra { also, over: self.modified.iter().filter_map(over).collect() }
    }
}
