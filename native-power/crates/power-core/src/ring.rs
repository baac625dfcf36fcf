//! What was read and waits to be taken away. Neither side waits for a reading, only for the other side's copying.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A buffer larger than this isn't kept for later.
const KEPT: usize = 1 << 14;

/// Holds the latest entries in their order.
pub struct Ring<T> {
    most: usize,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    waiting: VecDeque<T>,
    /// The buffer of the last time, so that no memory need be found while readings come in.
    spare: VecDeque<T>,
    dropped: u64,
}

impl<T> Ring<T> {
    /// Empty, with room for so many.
    pub const fn new(most: usize) -> Self {
        let inner = Inner { waiting: VecDeque::new(), spare: VecDeque::new(), dropped: 0 };
        Self { most, inner: Mutex::new(inner) }
    }

    /// Takes in all of `batch` and leaves it empty. Beyond its room the oldest go.
    pub fn push(&self, batch: &mut Vec<T>) {
        if batch.is_empty() {
            return;
        }
        let mut inner = self.lock();
        inner.waiting.extend(batch.drain(..));
        let beyond = inner.waiting.len().saturating_sub(self.most);
        if beyond > 0 {
            inner.waiting.drain(..beyond);
            inner.dropped += beyond as u64;
        }
    }

    /// Hands over everything that came in since the last time.
    pub fn drain<R>(&self, take: impl FnOnce(&[T]) -> R) -> R {
        let mut waiting = {
            let mut inner = self.lock();
            let spare = std::mem::take(&mut inner.spare);
            std::mem::replace(&mut inner.waiting, spare)
        };
        let taken = take(waiting.make_contiguous());
        waiting.clear();
        if waiting.capacity() <= KEPT {
            self.lock().spare = waiting;
        }
        taken
    }

    /// Entries that were never taken away and had to make room.
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;

    #[test]
    fn entries_are_handed_over_once_and_in_order() {
        let ring = Ring::new(4);
        for batch in [vec![1, 2], vec![], vec![3]] {
            ring.push(&mut batch.clone());
        }
        assert_eq!(ring.drain(<[_]>::to_vec), [1, 2, 3]);
        assert_eq!(ring.drain(<[_]>::to_vec), []);
        ring.push(&mut vec![4]);
        assert_eq!((ring.drain(<[_]>::to_vec), ring.dropped()), (vec![4], 0));
    }

    #[test]
    fn the_oldest_make_room() {
        let ring = Ring::new(4);
        for batch in [vec![1, 2, 3], vec![4, 5, 6]] {
            ring.push(&mut batch.clone());
        }
        assert_eq!((ring.drain(<[_]>::to_vec), ring.dropped()), (vec![3, 4, 5, 6], 2));
        ring.push(&mut (0..9).collect());
        assert_eq!((ring.drain(<[_]>::to_vec), ring.dropped()), (vec![5, 6, 7, 8], 7));
    }
}
