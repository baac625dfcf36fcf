/// A buffer as a step of a kernel sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes in all.
    pub bytes: u64,
    /// Whether the step's outer axis divides it into equal parts; else each part of the step reads all of it.
    pub divided: bool,
}

/// What a device allows of one binding.
#[derive(Clone, Copy, Debug)]
pub struct BindingLimits {
    /// Bytes of one binding.
    pub bytes: u64,
    /// What the offset of a binding must be a multiple of; a power of two.
    pub alignment: u64,
}

/// How many units of the outer axis one dispatch may take, so that every binding stays within the limits: all `outer` of
/// them where that fits.
///
/// # Errors
/// Which binding is too large, in words.
pub fn units_at_once(extents: &[Extent], outer: u64, limits: BindingLimits) -> Result<u64, String> {
    let too_large =
        |bytes: u64| format!("a binding of {bytes} bytes is more than the device's {}", limits.bytes);
    let divided: Vec<u64> =
        extents.iter().filter(|extent| extent.divided).map(|extent| extent.bytes / outer).collect();
    if let Some(whole) = extents.iter().find(|extent| !extent.divided && extent.bytes > limits.bytes) {
        return Err(too_large(whole.bytes));
    }
    let most = divided.iter().map(|per_unit| limits.bytes / (*per_unit).max(1)).min().unwrap_or(outer);
    if most >= outer {
        return Ok(outer);
    }
    let step = divided.iter().map(|&per_unit| aligned_step(per_unit, limits.alignment)).max().unwrap_or(1);
    match most / step * step {
        0 => Err(too_large(divided.iter().max().copied().unwrap_or(0).saturating_mul(step))),
        units => Ok(units),
    }
}

/// The fewest units of `per_unit` bytes whose size is a multiple of a power of two.
fn aligned_step(per_unit: u64, alignment: u64) -> u64 {
    let shared = 1 << per_unit.trailing_zeros().min(alignment.trailing_zeros());
    alignment / shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_divided_only_where_it_must_be() {
        let limits = BindingLimits { bytes: 1024, alignment: 256 };
        let part = |bytes| Extent { bytes, divided: true };
        let whole = |bytes| Extent { bytes, divided: false };
        let cases: [(&str, &[Extent], u64, Option<u64>); 7] = [
            ("all fits", &[part(1024), whole(1024)], 8, Some(8)),
            ("the larger decides", &[part(4096), part(2048)], 8, Some(2)),
            ("offsets stay aligned", &[part(64 * 40), part(128 * 40)], 40, Some(8)),
            ("what can't be divided must fit", &[whole(1025)], 1, None),
            ("one unit is already too much", &[part(4096)], 2, None),
            ("alignment alone is too much", &[part(12 * 1000)], 1000, Some(64)),
            ("units of one byte", &[part(1 << 20)], 1 << 20, Some(1024)),
        ];
        for (why, extents, outer, expected) in cases {
            assert_eq!(units_at_once(extents, outer, limits).ok(), expected, "{why}");
        }
    }
}
