//! What comes from Neovim.

use super::bases::InStep;
use super::buffers::News;
use super::git::GitQuestion;
use super::merging::Wanted;
use super::moved::Lost;
use super::placing::Wanted as WantedPlace;
use super::reviews::{self, Chosen, Which};
use super::rewind;
use super::surfaces::DetailWish;
use super::taking_back::TakingBack;
use crate::session::event::Wish;
use crate::session::ids::{SessionId, Tag};
use crate::view::model::{Look, SurfaceId};

/// What comes from Neovim.
#[derive(Debug)]
pub enum Action {
    /// The user wants something.
    Wish(Wish),
    /// A transcript is to be shown, from the beginning.
    Show(SessionId, SurfaceId),
    /// A surface is gone.
    Hide(SurfaceId),
    /// Everything is to be rendered this way.
    Look(Look),
    /// An entry of a transcript is to be opened or closed, or all of them; without a wish, the
    /// other way.
    Toggle {
        /// Where.
        surface: SurfaceId,
        /// Which entry; none for all.
        entry: Option<usize>,
        /// Whether it shall be open.
        open: Option<bool>,
    },
    /// A change to a file is to be put together with a buffer.
    Merge(Box<Wanted>),
    /// Something of the chat is to go into a buffer: where.
    Place(Box<WantedPlace>),
    /// Buffers are in step with these files.
    Track(Vec<InStep>),
    /// Something about a buffer.
    Buffer(News),
    /// The user accepts hunks.
    Accept(Chosen),
    /// The user rejects hunks of a file that is not open.
    RejectFile(Tag, String, Which),
    /// Something is taken back in a buffer, and in its file.
    TakingBack(TakingBack),
    /// How what is under review is kept for the next time.
    Keep(reviews::Config),
    /// All hunks of a file are to be told once more.
    HunksAgain(String),
    /// How many bytes an agent may read of a file at once.
    MaxRead(u64),
    /// A file is not open any more.
    Forget(String),
    /// Which of these files have changed.
    Check(Tag, Vec<String>),
    /// A file of a buffer is gone: where to.
    Lost(Lost),
    /// Something about going back.
    Rewind(rewind::Wanted),
    /// A tool call is to be shown, from the beginning.
    Detail(SurfaceId, DetailWish),
    /// Something is asked of a repository.
    Git(GitQuestion),
    /// Somebody wants to know whether the core has a moment.
    Ping(std::sync::mpsc::Sender<()>),
    /// Neovim is going; answer when everything is said.
    Shutdown(std::sync::mpsc::Sender<()>),
}
