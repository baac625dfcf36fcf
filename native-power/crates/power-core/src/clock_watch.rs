//! Whether the host slept, or its wall clock was set, while it was being recorded.

use crate::{Clock, Nanos};

/// Less is what looking at two clocks one after the other makes of it.
const LEAST_SLEEP: Nanos = Nanos::from_millis(10);

/// A clock that is slewed gains or loses a two-thousandth at most; this much between two looks means that it was set.
const LEAST_STEP: Nanos = Nanos::from_millis(50);

/// Time between two looks at the wall clock.
const WALL_PERIOD: Nanos = Nanos::from_millis(1_000);

/// Looks that may be spoilt by being interrupted.
const TRIES: usize = 3;

/// Compares the clocks of a host from one look to the next.
#[derive(Debug, Default)]
pub struct ClockWatch {
    slept: Option<Nanos>,
    wall: Option<Wall>,
    /// Whether the host ever slept.
    pub suspended: bool,
    /// Whether the wall clock was ever set.
    pub stepped: bool,
}

#[derive(Clone, Copy, Debug)]
struct Wall {
    at: Nanos,
    offset: Nanos,
    slept: Nanos,
}

impl ClockWatch {
    /// Looks now, shortly after `at`; says whether the host has slept since the last look.
    pub fn look(&mut self, clock: &dyn Clock, at: Nanos) -> bool {
        let slept = (0..TRIES).find_map(|_| clock.slept());
        let woke = self.slept.zip(slept).is_some_and(|(before, now)| now - before >= LEAST_SLEEP);
        self.slept = slept.or(self.slept);
        self.suspended |= woke;
        self.look_at_wall(clock, at, woke);
        woke
    }

    /// Time that the host slept moves the wall clock on, too.
    fn look_at_wall(&mut self, clock: &dyn Clock, at: Nanos, woke: bool) {
        if self.wall.is_some_and(|last| at - last.at < WALL_PERIOD && !woke) {
            return;
        }
        let Some(offset) = clock.wall_offset() else { return };
        let now = Wall { at, offset, slept: self.slept.unwrap_or_default() };
        if let Some(last) = self.wall {
            let moved = (now.offset - last.offset) - (now.slept - last.slept);
            self.stepped |= moved.0.abs() > LEAST_STEP.0;
        }
        self.wall = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::ClockWatch;
    use crate::{Clock, Nanos};

    /// Now, time slept and the wall's offset, ms.
    #[derive(Default)]
    struct Set(Cell<[Option<i64>; 3]>);

    impl Clock for Set {
        fn now(&self) -> Nanos {
            Nanos::from_millis(self.0.get()[0].unwrap_or(0))
        }

        fn slept(&self) -> Option<Nanos> {
            self.0.get()[1].map(Nanos::from_millis)
        }

        fn wall_offset(&self) -> Option<Nanos> {
            self.0.get()[2].map(Nanos::from_millis)
        }
    }

    #[test]
    fn sleep_and_a_set_clock_are_told_apart() {
        type Look = (i64, Option<i64>, Option<i64>);
        #[rustfmt::skip]
        let cases: &[(&str, &[Look], [bool; 3])] = &[
            ("all is well",                        &[(0, Some(5), Some(9)), (2000, Some(5), Some(9))],                                  [false, false, false]),
            ("noise of looking",                   &[(0, Some(5), Some(9)), (2000, Some(14), Some(58))],                                [false, false, false]),
            ("slept",                              &[(0, Some(5), Some(9)), (100, Some(9005), Some(9009))],                             [true, true, false]),
            ("slept once, then awake",             &[(0, Some(5), Some(9)), (100, Some(9005), Some(9009)), (200, Some(9005), Some(9009))], [false, true, false]),
            ("set forward",                        &[(0, Some(5), Some(9)), (2000, Some(5), Some(999))],                                [false, false, true]),
            ("set back",                           &[(0, Some(5), Some(9)), (2000, Some(5), Some(-999))],                               [false, false, true]),
            ("set while it slept",                 &[(0, Some(5), Some(9)), (100, Some(9005), Some(99009))],                            [true, true, true]),
            ("the wall is looked at once a second", &[(0, Some(5), Some(9)), (900, Some(5), Some(999))],                                [false, false, false]),
            ("a look that failed is made up for",  &[(0, Some(5), None), (100, None, None), (200, Some(9005), None)],                   [true, true, false]),
            ("a system that tells neither",        &[(0, None, None), (2000, None, None)],                                              [false, false, false]),
        ];
        for (why, looks, expected) in cases {
            let (clock, mut watch) = (Set::default(), ClockWatch::default());
            let mut woke = false;
            for (now, slept, wall) in *looks {
                clock.0.set([Some(*now), *slept, *wall]);
                woke = watch.look(&clock, clock.now());
            }
            assert_eq!([woke, watch.suspended, watch.stepped], *expected, "{why}");
        }
    }
}
