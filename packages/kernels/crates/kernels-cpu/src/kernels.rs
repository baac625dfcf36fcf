//! What each kernel runs, by implementation.

use std::rc::Rc;

use half::{bf16, f16};
use kernels_core::{DType, ImplId, KernelError, KernelSpec, PrefixMethod, Shape, counts};

use crate::{
    attention::{Heads, decode_attention, prefill_attention, shared_prefix_decode},
    buffer::Buffer,
    count::Uncounted,
    element::Element,
    gemv::{gemv, gemv_int8, transpose_into},
    int4::{Int4, Rounded, gemv_int4, gemv_int4_rounded},
    isa::{best_isa, streams},
    matmul::MatMul,
    nibbles::{BLOCK, best_nibbles},
    norms::{rms_norm, softmax},
    onednn::{OneDnn, Product},
    openblas::OpenBlas,
    streams::{Stores, copy, multiply_add, triad},
    widened::{multiply, multiply_int8, widen},
};

/// What computes an output from inputs.
pub(crate) type Compute<'a> = dyn FnMut(&[Buffer], &mut Buffer) -> Result<(), KernelError> + 'a;

/// The same for our own loops, which run within a pool of threads.
pub(crate) type Pooled = Box<dyn FnMut(&[Buffer], &mut Buffer) -> Result<(), KernelError> + Send>;

/// One launch on one set of buffers.
pub(crate) enum Launch {
    /// On the calling thread: the library has threads of its own, a team for each caller.
    Here(Box<Compute<'static>>),
    /// Within the device's threads.
    Pooled(Pooled),
}

/// The implementation of 4-bit weights that rounds activations to 8 bits first: less exact than the others, and named so.
pub(crate) const INT8_ACTIVATIONS: &str = "own-int8-activations";

/// The libraries that could be opened.
#[derive(Clone)]
pub(crate) struct Libraries {
    pub onednn: Result<Rc<OneDnn>, KernelError>,
    pub openblas: Result<OpenBlas, KernelError>,
    pub threads: usize,
    /// What the last-level cache holds: results of kernels that move more are written past it.
    pub cache_bytes: u64,
}

/// Calls with `E` as the type; whole numbers have no such loops.
macro_rules! typed {
    ($dtype:expr, $E:ident => $body:expr) => {
        match $dtype {
            DType::F32 => {
                type $E = f32;
                Ok::<_, KernelError>($body)
            }
            DType::F16 => {
                type $E = f16;
                Ok::<_, KernelError>($body)
            }
            DType::Bf16 => {
                type $E = bf16;
                Ok::<_, KernelError>($body)
            }
            other => Err(no_loop(other)),
        }
    };
}

fn no_loop(dtype: DType) -> KernelError {
    KernelError::Unsupported {
        what: dtype.name().to_owned(),
        reason: "no loop on the CPU has this type".to_owned(),
    }
}

impl Libraries {
    /// The implementations of a kernel on this CPU, best first; why there is none.
    pub fn implementations(&self, spec: &KernelSpec) -> Result<Vec<ImplId>, String> {
        match spec.dtype {
            DType::Tf32 => return Err("CPUs have no TF32 units".to_owned()),
            DType::Fp8E4m3 => return Err("no library on the CPU multiplies fp8".to_owned()),
            _ => {}
        }
        let own = self.own(own_name(spec));
        let own = if self.stores(spec) == Stores::Streaming { own.with("stores", "streaming") } else { own };
        if rounds_activations(spec) {
            let rounded = self.own(INT8_ACTIVATIONS).with("dot", best_nibbles()).with("block", BLOCK);
            return Ok(vec![own, rounded]);
        }
        let Some(of) = MatMul::of(spec) else { return Ok(vec![own]) };
        let mut libraries = self.multiplying(&of);
        match spec.shape {
            Shape::Gemv { batch, .. } if batch < 4 => libraries.insert(0, own),
            Shape::Gemv { .. } => libraries.push(own),
            _ if spec.dtype == DType::Int8 => libraries.push(own),
            _ => libraries.push(self.own(if spec.dtype == DType::F32 { "gemm" } else { "gemm-widened" })),
        }
        Ok(libraries)
    }

    fn own(&self, name: &str) -> ImplId {
        let id = ImplId::new("cpu", name).with("isa", best_isa()).with("threads", self.threads);
        if name.starts_with("gemm") { id.with("version", "0.19.0") } else { id }
    }

    #[expect(clippy::cast_precision_loss, reason = "caches are smaller than 2^53 bytes")]
    fn stores(&self, spec: &KernelSpec) -> Stores {
        let streamed = matches!(spec.shape, Shape::Copy { .. } | Shape::Triad { .. });
        if streamed && streams() && counts(spec).bytes > self.cache_bytes as f64 {
            Stores::Streaming
        } else {
            Stores::Cached
        }
    }

    fn multiplying(&self, of: &MatMul) -> Vec<ImplId> {
        let mut list = Vec::new();
        if let Ok(library) = &self.onednn
            && let Ok(product) = Product::new(library, of)
        {
            list.push(library.impl_id().with("kernel", product.kernel()).with("threads", self.threads));
        }
        let fits = |size: usize| i32::try_from(size).is_ok();
        if let Ok(library) = &self.openblas
            && (of.dtype, of.output) == (DType::F32, DType::F32)
            && [of.rows, of.columns, of.depth].into_iter().all(fits)
        {
            list.push(library.impl_id());
        }
        list
    }

    /// What `implementation` of a kernel runs.
    pub fn launch(&self, spec: &KernelSpec, implementation: &str) -> Result<Launch, KernelError> {
        let refused = || KernelError::Unsupported {
            what: spec.to_string(),
            reason: format!("there is no implementation {implementation:?}"),
        };
        match (implementation, MatMul::of(spec)) {
            ("onednn", Some(of)) => {
                let product = Product::new(self.onednn.as_ref().map_err(Clone::clone)?, &of)?;
                let multiply = move |inputs: &[Buffer], out: &mut Buffer| {
                    product.multiply(&inputs[of.left], &inputs[of.right], out)
                };
                Ok(Launch::Here(Box::new(multiply)))
            }
            ("openblas", Some(of)) => {
                let library = *self.openblas.as_ref().map_err(Clone::clone)?;
                let multiply = move |inputs: &[Buffer], out: &mut Buffer| {
                    let (left, right) = (inputs[of.left].as_slice(), inputs[of.right].as_slice());
                    library.multiply(&of, left, right, out.as_mut_slice());
                    Ok(())
                };
                Ok(Launch::Here(Box::new(multiply)))
            }
            ("gemm", Some(of)) if of.dtype == DType::F32 => Ok(Launch::Pooled(plain(of))),
            ("gemm-widened", Some(of)) => typed!(of.dtype, E => widened::<E>(of)).map(Launch::Pooled),
            (INT8_ACTIVATIONS, _) if rounds_activations(spec) => {
                let Shape::Int4Gemv { scales, .. } = spec.shape else { return Err(refused()) };
                typed!(scales, S => int4_rounded::<S>(spec)).map(Launch::Pooled)
            }
            (name, _) if name == own_name(spec) => own(spec, self.stores(spec)).map(Launch::Pooled),
            _ => Err(refused()),
        }
    }
}

fn plain(of: MatMul) -> Pooled {
    Box::new(move |inputs, out| {
        multiply(&of, inputs[of.left].as_slice(), inputs[of.right].as_slice(), out.as_mut_slice());
        Ok(())
    })
}

const fn own_name(spec: &KernelSpec) -> &'static str {
    match spec.shape {
        Shape::Copy { .. } => "own-memcpy",
        Shape::Triad { .. } => "own-stream",
        Shape::Fma { .. } => "own-chain",
        Shape::Gemm { .. } | Shape::Gemv { .. } | Shape::Int4Gemv { .. } => "own-rows",
        Shape::Prefill { .. } => "own-tiles",
        Shape::SharedPrefix { method: PrefixMethod::Shared, .. } => "own-hydragen",
        Shape::Decode { .. } | Shape::SharedPrefix { .. } => "own-split-kv",
        Shape::RmsNorm { .. } | Shape::Softmax { .. } => "own-row",
    }
}

fn own(spec: &KernelSpec, stores: Stores) -> Result<Pooled, KernelError> {
    let dtype = spec.dtype;
    match spec.shape {
        Shape::Copy { .. } => Ok(Box::new(move |inputs, out| {
            copy(stores, inputs[0].bytes(), out.bytes_mut());
            Ok(())
        })),
        Shape::Triad { .. } => typed!(dtype, E => Box::new(move |inputs, out| {
            triad::<E>(stores, inputs[0].as_slice(), inputs[1].as_slice(), out.as_mut_slice());
            Ok(())
        })),
        Shape::Fma { k, .. } => typed!(dtype, E => Box::new(move |inputs, out| {
            multiply_add::<E>(inputs[0].as_slice(), k, out.as_mut_slice());
            Ok(())
        })),
        Shape::RmsNorm { .. } => typed!(dtype, E => Box::new(|inputs, out| {
            rms_norm::<E>(inputs[0].as_slice(), inputs[1].as_slice(), out.as_mut_slice());
            Ok(())
        })),
        Shape::Softmax { width, .. } => typed!(dtype, E => Box::new(move |inputs, out| {
            softmax::<E>(inputs[0].as_slice(), width, out.as_mut_slice());
            Ok(())
        })),
        Shape::Gemm { .. } => whole_numbers(spec),
        Shape::Gemv { batch, .. } if dtype == DType::Int8 => {
            let mut products = Vec::new();
            Ok(Box::new(move |inputs, out| {
                products.resize(out.bytes().len() / 4, 0);
                gemv_int8(inputs[0].as_slice(), inputs[1].as_slice(), batch, &mut products);
                transpose_into(&products, batch, out.as_mut_slice::<i32>(), |x| x);
                Ok(())
            }))
        }
        Shape::Gemv { batch, .. } => typed!(dtype, E => rows::<E>(batch, spec.output)),
        Shape::Int4Gemv { scales, .. } => typed!(scales, S => int4::<S>(spec)),
        _ => attention(spec),
    }
}

fn whole_numbers(spec: &KernelSpec) -> Result<Pooled, KernelError> {
    let of = MatMul::of(spec).filter(|of| of.dtype == DType::Int8).ok_or_else(|| no_loop(spec.dtype))?;
    let mut scratch = Vec::new();
    Ok(Box::new(move |inputs, out| {
        let (left, right) = (inputs[of.left].as_slice(), inputs[of.right].as_slice());
        multiply_int8(&of, left, right, &mut scratch, out.as_mut_slice());
        Ok(())
    }))
}

fn widened<E: Element>(of: MatMul) -> Pooled {
    let (mut left, mut right, mut products) = (Vec::new(), Vec::new(), vec![0.0; of.rows * of.columns]);
    Box::new(move |inputs, out| {
        widen::<E>(&inputs[of.left], &mut left);
        widen::<E>(&inputs[of.right], &mut right);
        multiply(&of, &left, &right, &mut products);
        round_into(&products, 1, of.output, out)
    })
}

/// Products (M×batch) into an output (batch×M) of a floating type.
fn round_into(products: &[f32], batch: usize, output: DType, out: &mut Buffer) -> Result<(), KernelError> {
    typed!(output, O => transpose_into(products, batch, out.as_mut_slice::<O>(), <O as Element>::from_f32))
}

fn rows<E: Element>(batch: usize, output: DType) -> Pooled {
    let (mut x, mut products) = (Vec::new(), Vec::new());
    Box::new(move |inputs, out| {
        widen::<E>(&inputs[1], &mut x);
        products.resize(out.bytes().len() / output.bytes(1), 0.0);
        gemv::<E>(inputs[0].as_slice(), &x, batch, &mut products);
        round_into(&products, batch, output, out)
    })
}

/// Results of a kernel below which the rounding of its activations could by chance weigh more than in norm.
const LEAST_RESULTS: usize = 32;

/// Whether a kernel has 4-bit weights whose groups are whole blocks of activations, and enough results to be checked by.
fn rounds_activations(spec: &KernelSpec) -> bool {
    let Shape::Int4Gemv { m, batch, group, .. } = spec.shape else { return false };
    group.is_multiple_of(BLOCK) && m * batch >= LEAST_RESULTS
}

/// What a kernel of 4-bit weights has beside them: vectors, columns that share a scale, whether there are zero points.
const fn int4_sizes(spec: &KernelSpec) -> (usize, usize, bool) {
    match spec.shape {
        Shape::Int4Gemv { batch, group, zero_points, .. } => (batch, group, zero_points),
        _ => (1, 8, false),
    }
}

fn int4<S: Element>(spec: &KernelSpec) -> Pooled {
    let KernelSpec { dtype, output, .. } = *spec;
    let (batch, group, zero_points) = int4_sizes(spec);
    let (mut x, mut products) = (Vec::new(), Vec::new());
    Box::new(move |inputs, out| {
        typed!(dtype, E => widen::<E>(&inputs[inputs.len() - 1], &mut x))?;
        products.resize(out.bytes().len() / output.bytes(1), 0.0);
        gemv_int4(&int4_weights::<S>(inputs, group, zero_points), &x, batch, &mut products);
        round_into(&products, batch, output, out)
    })
}

fn int4_rounded<S: Element>(spec: &KernelSpec) -> Pooled {
    let KernelSpec { dtype, output, .. } = *spec;
    let (batch, group, zero_points) = int4_sizes(spec);
    let (mut x, mut rounded, mut products) = (Vec::new(), Rounded::default(), Vec::new());
    Box::new(move |inputs, out| {
        typed!(dtype, E => widen::<E>(&inputs[inputs.len() - 1], &mut x))?;
        rounded.set(&x);
        products.resize(out.bytes().len() / output.bytes(1), 0.0);
        gemv_int4_rounded(&int4_weights::<S>(inputs, group, zero_points), &rounded, batch, &mut products);
        round_into(&products, batch, output, out)
    })
}

fn int4_weights<S: Element>(inputs: &[Buffer], group: usize, zero_points: bool) -> Int4<'_, S> {
    let zeros = zero_points.then(|| inputs[2].as_slice());
    Int4 { words: inputs[0].as_slice(), scales: inputs[1].as_slice::<S>(), zeros, group }
}

fn attention(spec: &KernelSpec) -> Result<Pooled, KernelError> {
    let dtype = spec.dtype;
    match spec.shape {
        Shape::Prefill { heads: query, kv_heads: kv, head_dim: dim, length, causal, .. } => {
            let heads = Heads { query, kv, dim };
            typed!(dtype, E => Box::new(move |inputs, out| {
                let caches = (inputs[1].as_slice(), inputs[2].as_slice());
                prefill_attention::<E>(heads, length, causal, inputs[0].as_slice(), caches, out.as_mut_slice());
                Ok(())
            }))
        }
        Shape::SharedPrefix {
            heads: query,
            kv_heads: kv,
            head_dim: dim,
            method: PrefixMethod::Shared,
            ..
        } => {
            let heads = Heads { query, kv, dim };
            typed!(dtype, E => Box::new(move |inputs, out| {
                let prefix = (inputs[1].as_slice(), inputs[2].as_slice());
                let suffix = (inputs[3].as_slice(), inputs[4].as_slice());
                shared_prefix_decode::<E, _>(heads, inputs[0].as_slice(), prefix, suffix, out.as_mut_slice(), &Uncounted);
                Ok(())
            }))
        }
        Shape::Decode { heads: query, kv_heads: kv, head_dim: dim, .. }
        | Shape::SharedPrefix { heads: query, kv_heads: kv, head_dim: dim, .. } => {
            let heads = Heads { query, kv, dim };
            typed!(dtype, E => Box::new(move |inputs, out| {
                let caches = (inputs[1].as_slice(), inputs[2].as_slice());
                decode_attention::<E, _>(heads, inputs[0].as_slice(), caches, out.as_mut_slice(), &Uncounted);
                Ok(())
            }))
        }
        _ => Err(no_loop(dtype)),
    }
}
