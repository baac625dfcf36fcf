use kernels_core::PrefixMethod;
use naga::{back, valid};

use super::*;

const LIMITS: BindingLimits = BindingLimits { bytes: 128 << 20, alignment: 256 };
const FACTS: Facts =
    Facts { native_f16: true, workgroup_bytes: 32 << 10, binding: LIMITS, cooperative: Some(MATRICES) };
const MATRICES: Cooperative = Cooperative { subgroup: 32, sixteen: true, eight: true };

/// One small kernel of each kind, in every type and layout that shaders have.
fn every_kernel() -> Result<Vec<KernelSpec>, kernels_core::KernelError> {
    let mut all = Vec::new();
    for dtype in [DType::F32, DType::F16, DType::Bf16] {
        let (batch, heads, kv_heads, head_dim) = (2, 8, 2, 128);
        let mut shapes = vec![
            Shape::Copy { n: 64 },
            Shape::Triad { n: 64 },
            Shape::Fma { n: 64, k: 19 },
            Shape::Gemv { m: 8, k: 64, batch: 3 },
            Shape::RmsNorm { rows: 2, width: 64 },
            Shape::RmsNorm { rows: 2, width: 65_536 },
            Shape::Softmax { rows: 2, width: 64 },
            Shape::Softmax { rows: 2, width: 65_536 },
            Shape::Decode { batch, heads, kv_heads, head_dim, length: 5000 },
        ];
        for method in [PrefixMethod::Shared, PrefixMethod::Naive] {
            shapes.push(Shape::SharedPrefix {
                batch,
                heads,
                kv_heads,
                head_dim,
                prefix: 512,
                suffix: 64,
                method,
            });
        }
        for flag in [false, true] {
            shapes.push(Shape::Prefill { batch, heads, kv_heads, head_dim, length: 64, causal: flag });
            shapes.push(Shape::Int4Gemv {
                m: 8,
                k: 64,
                batch: 1,
                group: 32,
                scales: dtype,
                zero_points: flag,
            });
        }
        for shape in shapes {
            all.push(KernelSpec::new(shape, dtype)?);
        }
    }
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::Int8] {
        for layout in [Layout::Nn, Layout::Nt] {
            all.push(KernelSpec { layout, ..KernelSpec::new(Shape::Gemm { m: 64, n: 64, k: 64 }, dtype)? });
        }
    }
    all.push(KernelSpec::new(Shape::Gemv { m: 8, k: 64, batch: 1 }, DType::Int8)?);
    Ok(all)
}

/// What an API may take of a shader.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    /// Everything.
    All,
    /// Cooperative matrices, which are there in Vulkan and, of 8 by 8, in Metal.
    Cooperative { metal: bool },
}

/// The shader in SPIR-V and in the languages of Metal and Direct3D 12, by what the device was opened with and nothing else.
fn translate(source: &str, native_f16: bool, takes: Takes) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let mut has = valid::Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    has.set(valid::Capabilities::SHADER_FLOAT16, native_f16);
    has.set(valid::Capabilities::COOPERATIVE_MATRIX, takes != Takes::All);
    let mut validator = valid::Validator::new(valid::ValidationFlags::all(), has);
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(source))?;
    let options = back::spv::Options { lang_version: (1, 4), ..back::spv::Options::default() };
    back::spv::write_vec(&module, &info, &options, None).map_err(|error| format!("spirv: {error}"))?;
    if takes != (Takes::Cooperative { metal: false }) {
        let options = back::msl::Options { lang_version: (2, 4), ..back::msl::Options::default() };
        back::msl::write_string(&module, &info, &options, &back::msl::PipelineOptions::default())
            .map_err(|error| format!("msl: {error}"))?;
    }
    if takes != Takes::All {
        return Ok(());
    }
    let mut text = String::new();
    let options =
        back::hlsl::Options { shader_model: back::hlsl::ShaderModel::V6_2, ..back::hlsl::Options::default() };
    let pipeline = back::hlsl::PipelineOptions::default();
    back::hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(&module, &info, None)
        .map_err(|error| format!("hlsl: {error}"))?;
    Ok(())
}

#[test]
fn every_cooperative_shader_is_valid_for_every_width_layout_and_output()
-> Result<(), Box<dyn std::error::Error>> {
    let mut seen = Vec::new();
    for (name, side) in [(COOPERATIVE_16, 16), (COOPERATIVE_8, 8)] {
        for subgroup in [8, 16, 32, 64] {
            for (layout, output) in [Layout::Nn, Layout::Nt]
                .into_iter()
                .flat_map(|layout| [DType::F16, DType::F32].map(|output| (layout, output)))
            {
                let shape = Shape::Gemm { m: 96, n: 64, k: 48 };
                let spec = KernelSpec { layout, output, ..KernelSpec::new(shape, DType::F16)? };
                let facts = Facts { cooperative: Some(Cooperative { subgroup, ..MATRICES }), ..FACTS };
                let plan = plan(&spec, name, &facts, None)?;
                let source = plan.steps[0].shader.wgsl()?;
                translate(&source, true, Takes::Cooperative { metal: side == 8 })
                    .map_err(|fault| format!("{name} for {spec}: {fault}\n{source}"))?;
                assert_eq!(plan.steps[0].grid.groups(96), [2, 3, 1], "{name}");
                seen.push(source);
            }
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 32, "each variant is a shader of its own");
    Ok(())
}

#[test]
fn cooperative_shaders_need_the_matrices_and_whole_tiles() -> Result<(), Box<dyn std::error::Error>> {
    let gemm = |m, n, k| KernelSpec::new(Shape::Gemm { m, n, k }, DType::F16);
    let only = |sixteen, eight| Some(Cooperative { subgroup: 32, sixteen, eight });
    let cases = [
        ("both", COOPERATIVE_16, only(true, false), gemm(32, 64, 16)?, None),
        ("eight only", COOPERATIVE_8, only(false, true), gemm(32, 64, 8)?, None),
        ("no sixteen", COOPERATIVE_16, only(false, true), gemm(32, 64, 16)?, Some("no 16×16")),
        ("no eight", COOPERATIVE_8, only(true, false), gemm(32, 64, 16)?, Some("no 8×8")),
        ("none at all", COOPERATIVE_16, None, gemm(32, 64, 16)?, Some("no 16×16")),
        ("part of a tile", COOPERATIVE_16, only(true, true), gemm(40, 64, 16)?, Some("m 40")),
        ("part of a step", COOPERATIVE_16, only(true, true), gemm(32, 64, 24)?, Some("k 24")),
    ];
    for (why, name, cooperative, spec, expected) in cases {
        let said = plan(&spec, name, &Facts { cooperative, ..FACTS }, None).err();
        assert_eq!(said.is_some(), expected.is_some(), "{why}: {said:?}");
        assert!(said.unwrap_or_default().contains(expected.unwrap_or_default()), "{why}");
    }
    Ok(())
}

#[test]
fn every_shader_is_valid_and_becomes_what_each_api_takes() -> Result<(), Box<dyn std::error::Error>> {
    let mut names: Vec<&str> = Vec::new();
    for spec in every_kernel()? {
        for name in candidates(&spec) {
            names.push(name);
            for native_f16 in [true, false] {
                let facts = Facts { native_f16, ..FACTS };
                for step in plan(&spec, name, &facts, None)?.steps {
                    let source = step.shader.wgsl()?;
                    let takes = match *name {
                        COOPERATIVE_16 => Takes::Cooperative { metal: false },
                        COOPERATIVE_8 => Takes::Cooperative { metal: true },
                        _ => Takes::All,
                    };
                    translate(&source, native_f16 || takes != Takes::All, takes)
                        .map_err(|fault| format!("{name} for {spec}: {fault}\n{source}"))?;
                }
            }
        }
    }
    assert!(SHADERS.iter().all(|name| names.contains(name)), "{names:?}");
    Ok(())
}

#[test]
fn a_kernel_beyond_a_binding_is_divided_or_refused() -> Result<(), Box<dyn std::error::Error>> {
    let limits = BindingLimits { bytes: 1 << 20, alignment: 256 };
    let decode = Shape::Decode { batch: 8, heads: 8, kv_heads: 2, head_dim: 64, length: 1024 };
    let prefill =
        Shape::Prefill { batch: 1, heads: 8, kv_heads: 8, head_dim: 64, length: 4096, causal: true };
    let cases = [
        (Shape::Copy { n: 1 << 20 }, Some(4)),
        (Shape::Triad { n: (1 << 20) + 4 }, Some(5)),
        (Shape::Gemm { m: 1024, n: 64, k: 1024 }, Some(4)),
        (Shape::Gemm { m: 64, n: 1024, k: 1024 }, None),
        (Shape::Softmax { rows: 1000, width: 1024 }, Some(4)),
        (decode, Some(4)),
        (prefill, None),
        (Shape::Gemv { m: 1024, k: 1024, batch: 1 }, None),
    ];
    for (shape, dispatches) in cases {
        let spec = KernelSpec::new(shape, DType::F32)?;
        let name = candidates(&spec).first().copied().unwrap_or_default();
        let parts = plan(&spec, name, &FACTS, None)?.parts(&spec, limits);
        let first = parts.ok().and_then(|parts| parts.into_iter().next());
        assert_eq!(first.as_ref().map(Vec::len), dispatches, "{spec}");
        let within = |part: &Part| {
            part.ranges.iter().all(|range| range.end - range.start <= 1 << 20 && range.start % 256 == 0)
        };
        assert!(first.iter().flatten().all(within), "{spec}: {first:?}");
    }
    Ok(())
}
