use kernels_core::PrefixMethod;
use naga::{back, valid};

use super::*;

const LIMITS: BindingLimits = BindingLimits { bytes: 128 << 20, alignment: 256 };
const FACTS: Facts =
    Facts { native_f16: true, workgroup_bytes: 32 << 10, binding: LIMITS, cooperative: Some(32) };

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

/// The shader in SPIR-V and, but for cooperative matrices, in the languages of Metal and Direct3D 12.
fn translate(source: &str, cooperative: bool) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let mut validator = valid::Validator::new(valid::ValidationFlags::all(), valid::Capabilities::all());
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(source))?;
    let options = back::spv::Options { lang_version: (1, 4), ..back::spv::Options::default() };
    back::spv::write_vec(&module, &info, &options, None).map_err(|error| format!("spirv: {error}"))?;
    if cooperative {
        return Ok(());
    }
    let options = back::msl::Options { lang_version: (2, 4), ..back::msl::Options::default() };
    back::msl::write_string(&module, &info, &options, &back::msl::PipelineOptions::default())
        .map_err(|error| format!("msl: {error}"))?;
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
fn every_shader_is_valid_and_becomes_what_each_api_takes() -> Result<(), Box<dyn std::error::Error>> {
    let mut names: Vec<&str> = Vec::new();
    for spec in every_kernel()? {
        for name in candidates(&spec) {
            names.push(name);
            for native_f16 in [true, false] {
                let facts = Facts { native_f16, ..FACTS };
                for step in plan(&spec, name, &facts, None)?.steps {
                    let source = step.shader.wgsl()?;
                    translate(&source, *name == COOPERATIVE)
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
