//! Dies of one package: on some chips each shows the counter of the whole socket.

use crate::file::CountFile;

/// Counters further apart, µJ, are no copies.
const NEAR_UJ: u64 = 500_000;

/// Steps in which both must grow alike, and looks after which it is given up.
const STEPS: u32 = 3;
const LOOKS: u32 = 40;

/// Whether two counters are one: near each other, and equally far apart while they grow. `pause` is called between looks.
pub fn same_counter(a: &mut CountFile, b: &mut CountFile, pause: fn()) -> bool {
    let Some((mut last, apart)) = look(a, b) else { return false };
    if apart.unsigned_abs() >= u128::from(NEAR_UJ) {
        return false;
    }
    let mut steps = 0;
    for _ in 0..LOOKS {
        pause();
        match look(a, b) {
            Some((now, still)) if still == apart => {
                steps += u32::from(now != last);
                last = now;
            }
            _ => return false,
        }
        if steps >= STEPS {
            return true;
        }
    }
    false
}

/// The first counter, and how far ahead the second is; read until the first stands still around the second.
fn look(a: &mut CountFile, b: &mut CountFile) -> Option<(u64, i128)> {
    const TRIES: u32 = 4;
    let mut before = a.read().ok()?;
    for _ in 0..TRIES {
        let other = b.read().ok()?;
        let after = a.read().ok()?;
        if before == after {
            return Some((after, i128::from(other) - i128::from(after)));
        }
        before = after;
    }
    None
}

#[cfg(all(test, unix))]
#[path = "dies_tests.rs"]
mod tests;
