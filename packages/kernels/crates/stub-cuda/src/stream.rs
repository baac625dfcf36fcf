use std::{rc::Rc, time::Instant};

/// Something that a stream does.
pub type Work = Box<dyn Fn()>;

/// A stream: does what it is given at once, or keeps it.
#[derive(Default)]
pub struct Stream {
    /// What is kept, while it is captured.
    pub captured: Option<Vec<Work>>,
}

impl Stream {
    /// Takes work.
    pub fn take(&mut self, work: Work) {
        match &mut self.captured {
            Some(kept) => kept.push(work),
            None => work(),
        }
    }
}

/// Work that was kept.
pub type Kept = Rc<Vec<Work>>;

/// A moment.
#[derive(Default)]
pub struct Event {
    /// When it was.
    pub at: Option<Instant>,
}
