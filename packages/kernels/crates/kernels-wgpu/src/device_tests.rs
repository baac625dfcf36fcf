use kernels_core::{Backend, DType, DeviceKind, Shape, check_output};

use super::*;
use crate::{WgpuBackend, adapter::adapters};

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn device() -> Option<WgpuDevice> {
    let found = adapters().and_then(|mut found| {
        let at = found.iter().position(|(info, _)| info.kind == DeviceKind::Software).unwrap_or(0);
        let (info, adapter) = found.swap_remove(at);
        WgpuDevice::open(info, &adapter)
    });
    found.inspect_err(|error| eprintln!("skipped: {error}")).ok()
}

#[test]
fn the_version_in_ids_is_the_one_built_in() {
    assert!(include_str!("../Cargo.toml").contains(&format!("\"={WGPU}\"")));
}

#[test]
fn a_kernel_divided_over_bindings_gives_the_same() -> Result<(), Box<dyn std::error::Error>> {
    let Some(mut device) = device() else { return Ok(()) };
    device.facts.binding.bytes = 16 << 10;
    let shapes = [
        Shape::Copy { n: 10_000 },
        Shape::Triad { n: 10_000 },
        Shape::Gemm { m: 200, n: 32, k: 64 },
        Shape::RmsNorm { rows: 100, width: 128 },
        Shape::Softmax { rows: 100, width: 128 },
        Shape::Decode { batch: 5, heads: 4, kv_heads: 2, head_dim: 64, length: 16 },
        Shape::Prefill { batch: 3, heads: 2, kv_heads: 1, head_dim: 64, length: 20, causal: true },
    ];
    for shape in shapes {
        let spec = KernelSpec::new(shape, DType::F32)?.with_seed(7);
        let Support::Yes { impls } = device.support(&spec) else {
            return Err(format!("{spec} is refused").into());
        };
        let inputs = Inputs::generate(&spec)?;
        for id in impls {
            let mut prepared = device.prepare(&spec, &inputs, 1, &id)?;
            let ticket = prepared.submit(1)?;
            prepared.wait(ticket)?;
            let found = check_output(&spec, &inputs, &prepared.read_output()?)?;
            assert!(found.passed, "{id} for {spec}: {found:?}");
        }
    }
    Ok(())
}

#[test]
fn what_the_device_refuses_is_typed() {
    let Some(device) = device() else { return };
    let context = &device.context;
    let broken = guarded(&context.device, &[ErrorFilter::Validation], || {
        let source = wgpu::ShaderSource::Wgsl("fn main( {".into());
        context.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source })
    });
    assert!(broken.is_err_and(|error| error.to_string().contains("expected")));
    let huge = context.large_buffer("a test", 1 << 50, BufferUsages::STORAGE);
    assert!(matches!(huge, Err(KernelError::OutOfMemory { bytes, .. }) if bytes == 1 << 50), "{huge:?}");
    let stray = context.buffer(1 << 50, BufferUsages::STORAGE);
    let said = context.faults.check("test", "createBuffer");
    assert!(
        matches!(&said, Err(KernelError::Call { call, .. }) if call == "createBuffer"),
        "{stray:?} {said:?}"
    );
    assert_eq!(context.faults.check("test", "createBuffer"), Ok(()), "it is told once");
}

#[test]
fn a_shader_that_does_not_compile_is_a_typed_reason() {
    let Some(device) = device() else { return };
    let shader = crate::shader::Shader {
        name: "broken",
        templates: &["@compute @workgroup_size(1) fn main() { let x: u32 = 1.5; }"],
        input: None,
        output: None,
        values: crate::template::Values::default(),
    };
    let refused = crate::prepared::pipeline(&device.context, &shader).err();
    assert!(
        matches!(&refused, Some(KernelError::Compile { kernel, log }) if kernel == "broken" && !log.is_empty()),
        "{refused:?}"
    );
}

#[test]
fn ids_are_the_same_each_time() -> Result<(), KernelError> {
    let Ok(first) = WgpuBackend.probe() else { return Ok(()) };
    assert_eq!(first, WgpuBackend.probe()?);
    assert!(first.iter().all(|info| info.id.0.starts_with("wgpu:")), "{first:?}");
    Ok(())
}

/// Cooperative matrices that a software driver doesn't have.
const PRETENDED: Cooperative = Cooperative { subgroup: 32, sixteen: true, eight: true };

#[test]
fn cooperative_matrices_that_no_device_comes_with_are_done_without() {
    let Some(device) = device() else { return };
    let Ok(found) = adapters() else { return };
    let Some((info, adapter)) = found.into_iter().find(|(info, _)| info.id == device.info.id) else { return };
    if cooperative::probe(&adapter).is_some() {
        return;
    }
    let opened = WgpuDevice::open_with(info, &adapter, Some(PRETENDED)).map(|device| {
        let note = device.info.notes.last().cloned().unwrap_or_default();
        (device.facts.cooperative, note)
    });
    assert!(
        matches!(&opened, Ok((None, note)) if note.starts_with("its cooperative matrices can't be used: ")),
        "{opened:?}"
    );
}

#[test]
fn a_cooperative_shader_that_is_refused_is_a_reason_and_the_tiles_go_on() -> Result<(), KernelError> {
    let Some(mut device) = device() else { return Ok(()) };
    if device.facts.cooperative.is_some() {
        return Ok(());
    }
    device.facts.cooperative = Some(PRETENDED);
    let spec = KernelSpec::new(Shape::Gemm { m: 64, n: 64, k: 64 }, DType::F16)?;
    let inputs = Inputs::generate(&spec)?;
    let outcomes = candidates(&spec).iter().map(|name| {
        let mut prepared = device.prepare(&spec, &inputs, 1, &ImplId::new("wgpu", name))?;
        let ticket = prepared.submit(1)?;
        prepared.wait(ticket)?;
        Ok(check_output(&spec, &inputs, &prepared.read_output()?)?.passed)
    });
    let outcomes: Vec<Result<bool, KernelError>> = outcomes.collect();
    let compile = |outcome: &Result<bool, KernelError>| matches!(outcome, Err(KernelError::Compile { log, .. }) if !log.is_empty());
    assert!(
        matches!(&outcomes[..], [sixteen, eight, Ok(true), Ok(true)] if compile(sixteen) && compile(eight)),
        "{outcomes:?}"
    );
    Ok(())
}
