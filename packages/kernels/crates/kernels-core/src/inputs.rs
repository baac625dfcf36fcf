use std::{sync::LazyLock, thread};

use crate::{
    DType, Distribution, KernelError, KernelSpec, PrefixMethod, Shape, TensorSpec, conventions::real,
};

/// What outputs are filled with before they are computed: a NaN in every floating type, −1 in whole ones.
pub const POISON_BYTE: u8 = 0xff;

/// Elements that one thread makes at a time; a multiple of what one draw gives.
const CHUNK: usize = 1 << 18;

/// A tensor in the host's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// What it is.
    pub spec: TensorSpec,
    /// Its elements, little-endian.
    pub data: Vec<u8>,
}

impl Tensor {
    /// All elements, exactly. Nibbles come as 0 to 15.
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.spec.dtype.decode(&self.data);
        values.truncate(self.spec.len());
        values
    }
}

/// The numbers that a kernel is run on: a function of the specification's seed, distribution, type and shape, the same
/// on every machine. Never all alike and, but for nibbles, never 0: data of zeros draws less power.
///
/// The two methods of a shared-prefix decode get the same keys and values, laid out as each reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// In the order of [`KernelSpec::input_tensors`].
    pub tensors: Vec<Tensor>,
}

impl Inputs {
    /// Makes them, already rounded to the type.
    ///
    /// # Errors
    /// `OutOfMemory` for a tensor that the host can't hold.
    pub fn generate(spec: &KernelSpec) -> Result<Self, KernelError> {
        let tensors = spec.input_tensors().into_iter().map(|tensor| generate(spec, tensor));
        Ok(Self { tensors: tensors.collect::<Result<_, _>>()? })
    }

    /// The tensor of a name.
    ///
    /// # Errors
    /// `BadSpec` where the kernel has none of that name.
    pub fn get(&self, name: &str) -> Result<&Tensor, KernelError> {
        self.tensors.iter().find(|tensor| tensor.spec.name == name).ok_or_else(|| KernelError::BadSpec {
            what: format!("tensor {name}"),
            reason: "these inputs have none of that name".to_owned(),
        })
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.data.len()).sum()
    }
}

fn generate(spec: &KernelSpec, tensor: TensorSpec) -> Result<Tensor, KernelError> {
    let mut data = Vec::new();
    data.try_reserve_exact(tensor.bytes()).map_err(|_| KernelError::OutOfMemory {
        what: format!("host tensor {} of {spec}", tensor.name),
        bytes: u64::try_from(tensor.bytes()).unwrap_or(u64::MAX),
    })?;
    data.resize(tensor.bytes(), 0);
    match (spec.shape, tensor.name.as_str()) {
        (
            Shape::SharedPrefix {
                batch,
                kv_heads,
                head_dim,
                prefix,
                suffix,
                method: PrefixMethod::Naive,
                ..
            },
            name @ ("k" | "v"),
        ) => {
            let parts = PrefixParts {
                sequences: batch,
                heads: kv_heads,
                prefix: prefix * head_dim,
                suffix: suffix * head_dim,
            };
            write_whole(spec, &tensor, (name, parts), &mut data);
        }
        _ => fill(&Stream::new(spec, &tensor.name, tensor.dtype), &mut data),
    }
    Ok(Tensor { spec: tensor, data })
}

/// Elements of a naive cache, by where they come from.
struct PrefixParts {
    sequences: usize,
    heads: usize,
    prefix: usize,
    suffix: usize,
}

/// A cache with the prefix written out for each sequence.
fn write_whole(spec: &KernelSpec, tensor: &TensorSpec, (name, parts): (&str, PrefixParts), out: &mut [u8]) {
    let dtype = tensor.dtype;
    let PrefixParts { sequences, heads, prefix, suffix } = parts;
    let make = |part: &str, elements: usize| {
        let mut data = vec![0; dtype.bytes(elements)];
        fill(&Stream::new(spec, &format!("{name}_{part}"), dtype), &mut data);
        data
    };
    let (common, single) = (make("prefix", heads * prefix), make("suffix", sequences * heads * suffix));
    let (prefix, suffix) = (dtype.bytes(prefix), dtype.bytes(suffix));
    for (index, row) in out.chunks_exact_mut(prefix + suffix).enumerate() {
        let (head, from) = row.split_at_mut(prefix);
        let at = index % heads * prefix;
        head.copy_from_slice(&common[at..at + prefix]);
        from.copy_from_slice(&single[index * suffix..(index + 1) * suffix]);
    }
}

/// The endless numbers of one tensor, each a function of its index.
struct Stream {
    key: u64,
    role: Role,
    dtype: DType,
    distribution: Distribution,
}

/// What the numbers of a tensor are for.
#[derive(Clone, Copy)]
enum Role {
    /// Weights, activations, keys, values.
    Data,
    /// Scales of 4-bit weights: 0.005 to 0.015.
    Scale,
    /// Zero points of 4-bit weights: 5 to 11.
    ZeroPoint,
}

impl Stream {
    fn new(spec: &KernelSpec, name: &str, dtype: DType) -> Self {
        let role = match name {
            "scales" => Role::Scale,
            "zeros" => Role::ZeroPoint,
            _ => Role::Data,
        };
        let name = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { key: mix(spec.seed ^ mix(name)), role, dtype, distribution: spec.distribution }
    }

    /// 16 bits that look random.
    fn draw(&self, index: usize) -> u16 {
        let word = mix(self.key.wrapping_add((index as u64 / 4).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        u16::try_from((word >> (16 * (index % 4))) & 0xffff).unwrap_or(0)
    }

    fn nibble(&self, index: usize) -> u8 {
        let drawn = u8::try_from(self.draw(index) >> 12).unwrap_or(0);
        match self.role {
            Role::ZeroPoint => 5 + drawn % 7,
            _ => drawn,
        }
    }

    fn value(&self, index: usize) -> f32 {
        let drawn = self.draw(index);
        let unit = (f32::from(drawn) + 0.5) / 32768.0 - 1.0;
        if let Role::Scale = self.role {
            return 0.01 + 0.005 * unit;
        }
        let value = match self.distribution {
            Distribution::Normal => NORMAL[usize::from(drawn)],
            Distribution::Uniform => unit,
        };
        match (self.dtype, self.distribution) {
            (DType::Int8, Distribution::Normal) => at_least(value * 32.0, 1.0),
            (DType::Int8, Distribution::Uniform) => at_least(value * 127.0, 1.0),
            (DType::Int32, _) => at_least(value * 1_048_576.0, 1.0),
            (DType::Fp8E4m3, _) => at_least(value, 1.0 / 512.0),
            _ => value,
        }
    }
}

fn at_least(value: f32, magnitude: f32) -> f32 {
    value.abs().max(magnitude).copysign(value)
}

/// Fills `out` from the stream's beginning, on all cores.
fn fill(stream: &Stream, out: &mut [u8]) {
    let chunk_bytes = stream.dtype.bytes(CHUNK);
    let workers =
        thread::available_parallelism().map_or(1, usize::from).min(out.len().div_ceil(chunk_bytes).max(1));
    let mut shares: Vec<Vec<(usize, &mut [u8])>> = (0..workers).map(|_| Vec::new()).collect();
    for (index, chunk) in out.chunks_mut(chunk_bytes).enumerate() {
        shares[index % workers].push((index * CHUNK, chunk));
    }
    thread::scope(|scope| {
        for share in shares {
            scope
                .spawn(move || share.into_iter().for_each(|(first, chunk)| fill_chunk(stream, first, chunk)));
        }
    });
}

fn fill_chunk(stream: &Stream, first: usize, out: &mut [u8]) {
    if stream.dtype == DType::Int4 {
        for (offset, byte) in out.iter_mut().enumerate() {
            let index = first + 2 * offset;
            *byte = stream.nibble(index) | (stream.nibble(index + 1) << 4);
        }
        return;
    }
    let mut bytes = Vec::with_capacity(out.len());
    let elements = out.len() * 8 / stream.dtype.bits();
    (first..first + elements).for_each(|index| stream.dtype.push(stream.value(index), &mut bytes));
    out.copy_from_slice(&bytes);
}

/// A bijection of 64 bits that passes tests of randomness (the finaliser of `SplitMix64`).
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The standard normal distribution in 65,536 steps of equal probability, by their middles.
static NORMAL: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let steps = 1usize << 16;
    #[expect(clippy::cast_possible_truncation, reason = "rounded to f32 on purpose")]
    (0..steps).map(|step| normal_quantile((real(step) + 0.5) / real(steps)) as f32).collect()
});

/// The standard normal distribution's quantile at `p` in (0, 1), to a relative 1.2e-9 (Acklam's rational approximation).
pub(crate) fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    let polynomial = |of: &[f64], x: f64| of.iter().fold(0.0, |sum, coefficient| sum * x + coefficient);
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p < 0.02425 {
        let tail = (-2.0 * p.ln()).sqrt();
        return polynomial(&C, tail) / polynomial(&D, tail);
    }
    let centred = p - 0.5;
    let square = centred * centred;
    centred * polynomial(&A, square) / polynomial(&B, square)
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
