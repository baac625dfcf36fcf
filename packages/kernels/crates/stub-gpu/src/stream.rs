use std::{rc::Rc, time::Instant};

/// Something that a stream does.
pub type Work = Box<dyn Fn()>;

/// A stream: does what it is given when it is waited for, as late as can be, or keeps it.
#[derive(Default)]
pub struct Stream {
    /// What is kept, while it is captured.
    pub captured: Option<Vec<Work>>,
    pending: Vec<Work>,
}

impl Stream {
    /// Takes work.
    pub fn take(&mut self, work: Work) {
        self.captured.as_mut().unwrap_or(&mut self.pending).push(work);
    }

    /// Does all that was taken and not kept.
    pub fn finish(&mut self) {
        self.pending.drain(..).for_each(|work| work());
    }
}

/// Work that was kept.
pub type Kept = Rc<Vec<Work>>;

/// A moment of a stream.
pub struct Event {
    /// When it was; None until then.
    pub at: Option<Instant>,
    /// Of which stream; null before it is set.
    pub stream: *mut Stream,
}
