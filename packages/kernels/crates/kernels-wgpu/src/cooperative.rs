use kernels_core::{DType, KernelSpec, Layout};
use wgpu::{Backend, CooperativeMatrixProperties, CooperativeScalarType};

use crate::{
    plan::{Facts, Plan, size, tiled, whole},
    shader::Shader,
    template::Values,
};

/// Matrices of 16 by 16.
pub const COOPERATIVE_16: &str = "wgsl-cooperative-16";
/// Matrices of 8 by 8, as Apple's GPUs have them.
pub const COOPERATIVE_8: &str = "wgsl-cooperative-8";

/// Apple's number among vendors.
const APPLE: u32 = 0x106b;
/// Width of a subgroup of Apple's GPUs, of which Metal tells no more than a range.
const APPLE_WIDTH: u32 = 32;

/// What a device has of cooperative matrices of f16 with f32 sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cooperative {
    /// The width of a subgroup, which is always the same.
    pub subgroup: u32,
    /// Whether it has those of 16 by 16 by 16.
    pub sixteen: bool,
    /// Whether it has those of 8 by 8 by 8.
    pub eight: bool,
}

/// What an adapter has; None where it has none, or where the width of a subgroup isn't known beforehand.
pub fn probe(adapter: &wgpu::Adapter) -> Option<Cooperative> {
    let needed = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX | wgpu::Features::SHADER_F16;
    let info = adapter.get_info();
    let width = width(info.backend, info.vendor, [info.subgroup_min_size, info.subgroup_max_size])?;
    if !adapter.features().contains(needed) {
        return None;
    }
    of(width, &adapter.cooperative_matrix_properties())
}

fn width(api: Backend, vendor: u32, [least, most]: [u32; 2]) -> Option<u32> {
    if api == Backend::Metal && vendor == APPLE {
        Some(APPLE_WIDTH)
    } else {
        (least == most).then_some(least)
    }
}

fn of(subgroup: u32, offered: &[CooperativeMatrixProperties]) -> Option<Cooperative> {
    let has = |side: u32| {
        offered.iter().any(|matrix| {
            [matrix.m_size, matrix.n_size, matrix.k_size] == [side; 3]
                && matrix.ab_type == CooperativeScalarType::F16
                && matrix.cr_type == CooperativeScalarType::F32
        })
    };
    let found = Cooperative { subgroup, sixteen: has(16), eight: has(8) };
    (found.sixteen || found.eight).then_some(found)
}

/// A GEMM on matrix units.
///
/// # Errors
/// Why it can't be, in words.
pub fn plan(
    spec: &KernelSpec,
    [m, n, k]: [usize; 3],
    implementation: &str,
    facts: &Facts,
) -> Result<Plan, String> {
    /// Rows and columns of a workgroup, which is one subgroup.
    const TILE: usize = 32;
    let eight = implementation == COOPERATIVE_8;
    let side = if eight { 8 } else { 16 };
    let has = facts.cooperative.filter(|has| if eight { has.eight } else { has.sixteen });
    let subgroup = has
        .ok_or_else(|| {
            format!("the device has no {side}×{side} cooperative matrices of f16 with f32 sums in subgroups of one width")
        })?
        .subgroup;
    let (rows, columns, depth) = (whole("m", m, TILE)?, whole("n", n, TILE)?, whole("k", k, side)?);
    let values = Values::default()
        .number("N", columns)
        .number("K", depth)
        .number("SUBGROUP", subgroup)
        .number("SIDE", size(side)?)
        .number("TILES", size(TILE / side)?)
        .number("HALF", 1)
        .number("COOPERATIVE", 1)
        .flag("EIGHT", eight)
        .flag("NT", spec.layout == Layout::Nt)
        .flag("OUT_F16", spec.output == DType::F16);
    let templates: &[&str] = &[include_str!("../shaders/gemm_cooperative.wgsl")];
    let shader = Shader { name: "gemm_cooperative", templates, input: None, output: None, values };
    tiled(shader, rows, [columns / size(TILE)?, size(TILE)?])
}

#[cfg(test)]
mod tests {
    use CooperativeScalarType::{F16, F32};

    use super::*;

    fn offer(
        [m, n, k]: [u32; 3],
        ab_type: CooperativeScalarType,
        cr_type: CooperativeScalarType,
    ) -> CooperativeMatrixProperties {
        CooperativeMatrixProperties {
            m_size: m,
            n_size: n,
            k_size: k,
            ab_type,
            cr_type,
            saturating_accumulation: false,
        }
    }

    #[test]
    fn only_sizes_and_types_that_the_shader_uses_count() {
        let found = |sixteen, eight| Some(Cooperative { subgroup: 32, sixteen, eight });
        let cases = [
            ("nothing", vec![], None),
            ("NVIDIA", vec![offer([16, 8, 16], F16, F32), offer([16; 3], F16, F32)], found(true, false)),
            ("Apple", vec![offer([8; 3], F32, F32), offer([8; 3], F16, F32)], found(false, true)),
            ("both", vec![offer([8; 3], F16, F32), offer([16; 3], F16, F32)], found(true, true)),
            ("sums in f16", vec![offer([16; 3], F16, F16)], None),
            ("operands of f32", vec![offer([16; 3], F32, F32)], None),
        ];
        for (why, offered, expected) in cases {
            assert_eq!(of(32, &offered), expected, "{why}");
        }
    }

    #[test]
    fn a_width_that_may_vary_is_none() {
        let cases = [
            ("one width", Backend::Vulkan, 0x10de, [32, 32], Some(32)),
            ("AMD's two", Backend::Vulkan, 0x1002, [32, 64], None),
            ("Apple's range", Backend::Metal, APPLE, [4, 64], Some(32)),
            ("AMD on Metal", Backend::Metal, 0x1002, [4, 64], None),
        ];
        for (why, api, vendor, range, expected) in cases {
            assert_eq!(width(api, vendor, range), expected, "{why}");
        }
    }
}
