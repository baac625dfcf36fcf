use kernels_core::{DType, KernelSpec, PrefixMethod, Shape};

use crate::{
    plan::{MOST_BLOCKS, Plan, SHARED_BYTES, Slot, Step, size, types, vector, whole},
    source::{ATTENTION, ATTENTION_MMA, DECODE, Defines, MERGE, Source},
};

/// Query rows of a block of `attention.cu`: eight threads each.
const QUERY_ROWS: u32 = 16;
/// Blocks that keep any device busy; keys are divided until there are so many, or a span is this short.
const ENOUGH_BLOCKS: u32 = 1024;
const SHORTEST_SPAN: u32 = 256;

/// Sizes of an attention kernel.
#[derive(Clone, Copy)]
struct Sizes {
    batch: u32,
    heads: u32,
    kv_heads: u32,
    /// Query heads of a key head.
    share: u32,
    head_dim: u32,
    /// Bytes of an element.
    bytes: u32,
}

impl Sizes {
    fn new(spec: &KernelSpec, [batch, heads, kv_heads, head_dim]: [usize; 4]) -> Result<Self, String> {
        let head_dim = whole("head_dim", head_dim, vector(spec.dtype))?;
        let (batch, heads, kv_heads) = (size(batch)?, size(heads)?, size(kv_heads)?);
        for (name, count) in [("batch", batch), ("heads", heads)] {
            if count > MOST_BLOCKS {
                return Err(format!("{name} {count} is more than {MOST_BLOCKS}"));
            }
        }
        Ok(Self {
            batch,
            heads,
            kv_heads,
            share: heads / kv_heads,
            head_dim,
            bytes: size(spec.dtype.bytes(1))?,
        })
    }

    fn defines(self, spec: &KernelSpec) -> Result<Defines, String> {
        #[expect(clippy::cast_precision_loss, reason = "a head has a few hundred elements")]
        let scale = 1.0 / (self.head_dim as f32).sqrt();
        Ok(types(spec)?
            .set("D", self.head_dim)
            .set("HEADS", self.heads)
            .set("KV_HEADS", self.kv_heads)
            .set("SHARE", self.share)
            .real("SCALE", scale))
    }

    /// Vectors of 16 bytes in a head.
    const fn vectors(self) -> u32 {
        self.head_dim * self.bytes / 16
    }
}

/// Keys divided over blocks.
#[derive(Clone, Copy)]
struct Spans {
    keys: u32,
    span: u32,
    count: u32,
}

impl Spans {
    /// As many spans as make enough blocks of `blocks`, none shorter than the shortest, unless `span` is asked for.
    fn new(keys: usize, blocks: u32, span: Option<u32>) -> Result<Self, String> {
        let keys = size(keys)?;
        let wanted = ENOUGH_BLOCKS.div_ceil(blocks.max(1)).clamp(1, keys.div_ceil(SHORTEST_SPAN));
        let span = span.unwrap_or_else(|| keys.div_ceil(wanted).next_multiple_of(32)).clamp(1, keys);
        let count = keys.div_ceil(span);
        if count > MOST_BLOCKS {
            Err(format!("{count} spans are too many"))
        } else {
            Ok(Self { keys, span, count })
        }
    }
}

/// How an attention kernel is done, with matrix `units` or without.
///
/// # Errors
/// Why it can't be, in words.
pub(crate) fn plan(spec: &KernelSpec, units: bool, span: Option<u32>) -> Result<Plan, String> {
    match spec.shape {
        Shape::Prefill { batch, heads, kv_heads, head_dim, length, causal } => prefill(
            spec,
            Sizes::new(spec, [batch, heads, kv_heads, head_dim])?,
            (size(length)?, causal),
            units,
        ),
        Shape::Decode { batch, heads, kv_heads, head_dim, length } => {
            decode(spec, Sizes::new(spec, [batch, heads, kv_heads, head_dim])?, length, span)
        }
        Shape::SharedPrefix { batch, heads, kv_heads, head_dim, prefix, suffix, method } => {
            let of = Sizes::new(spec, [batch, heads, kv_heads, head_dim])?;
            match method {
                PrefixMethod::Naive => decode(spec, of, prefix + suffix, span),
                PrefixMethod::Shared => shared(spec, of, [prefix, suffix], (tile(spec, of, units)?, span)),
            }
        }
        _ => Err(format!("{} is no attention", spec.kind())),
    }
}

/// A kernel that attends with many query rows at once.
#[derive(Clone, Copy)]
struct Tile {
    source: Source,
    /// Query rows of a block.
    rows: u32,
    /// Keys at a time.
    keys: u32,
}

/// The kernel, with or without matrix units, and the most keys of a tile that fit into shared memory.
fn tile(spec: &KernelSpec, of: Sizes, units: bool) -> Result<Tile, String> {
    let dim = of.head_dim;
    if !units {
        let bytes = |keys: u32| 4 * ((dim + 4) * (QUERY_ROWS + keys) + QUERY_ROWS * (keys + 1));
        let keys = [32, 16, 8].into_iter().find(|&keys| bytes(keys) <= SHARED_BYTES);
        let keys = keys.ok_or_else(|| format!("head_dim {dim} does not fit into shared memory"))?;
        return Ok(Tile { source: ATTENTION, rows: QUERY_ROWS, keys });
    }
    if !matches!(spec.dtype, DType::F16 | DType::Bf16) {
        return Err(format!("matrix units have no {}", spec.dtype.name()));
    }
    if !dim.is_multiple_of(16) || dim > 128 {
        return Err(format!("head_dim {dim} is no multiple of 16 up to 128"));
    }
    Ok(Tile { source: ATTENTION_MMA, rows: 64, keys: 64 })
}

fn prefill(spec: &KernelSpec, of: Sizes, (length, causal): (u32, bool), units: bool) -> Result<Plan, String> {
    let tile = tile(spec, of, units)?;
    let defines = of
        .defines(spec)?
        .set("KEYS", length)
        .set("ROWS", length)
        .set("CAUSAL", u8::from(causal))
        .set("BK", tile.keys);
    let step = Step {
        source: tile.source,
        defines,
        arguments: vec![Slot::Input(0), Slot::Input(1), Slot::Input(2), Slot::Output],
        grid: [length.div_ceil(tile.rows), of.heads, of.batch],
        block: 128,
    };
    Ok(Plan { steps: vec![step], ..Plan::default() })
}

/// Query heads that a block of `decode.cu` takes: the most that share a key head, divide its share and fit.
fn heads_at_once(of: Sizes) -> Result<u32, String> {
    if of.vectors() > 128 {
        return Err(format!("head_dim {} is too large", of.head_dim));
    }
    let vector = 16 / of.bytes;
    let bytes = |heads: u32| 4 * (heads * of.head_dim + heads * 32 * 9 + 128 * (vector + 1));
    let fitting = (1..=8).rev().find(|&heads| of.share.is_multiple_of(heads) && bytes(heads) <= SHARED_BYTES);
    fitting.ok_or_else(|| format!("head_dim {} does not fit into shared memory", of.head_dim))
}

/// The step that attends to each sequence's own keys. Inputs `k` and `v` are at `cache` and after; its spans stand at `slot` of
/// `slots`.
fn own_keys(
    spec: &KernelSpec,
    of: Sizes,
    (cache, spans): (usize, Spans),
    (slot, slots): (u32, u32),
) -> Result<Step, String> {
    let together = heads_at_once(of)?;
    let defines = of
        .defines(spec)?
        .set("KEYS", spans.keys)
        .set("SPAN", spans.span)
        .set("SLOT", slot)
        .set("SLOTS", slots)
        .set("TOGETHER", together);
    Ok(Step {
        source: DECODE,
        defines,
        arguments: vec![
            Slot::Input(0),
            Slot::Input(cache),
            Slot::Input(cache + 1),
            Slot::Scratch(0),
            Slot::Scratch(1),
        ],
        grid: [spans.count, of.heads / together, of.batch],
        block: 128,
    })
}

/// The step that joins all spans.
fn merge(spec: &KernelSpec, of: Sizes, slots: u32) -> Result<Step, String> {
    Ok(Step {
        source: MERGE,
        defines: types(spec)?.set("D", of.head_dim).set("SLOTS", slots),
        arguments: vec![Slot::Scratch(0), Slot::Scratch(1), Slot::Output],
        grid: [of.batch * of.heads, 1, 1],
        block: 128,
    })
}

/// Bytes of the partial outputs, and of the logs of their sums.
fn scratch(of: Sizes, slots: u32) -> Vec<u64> {
    let parts = u64::from(of.batch) * u64::from(of.heads) * u64::from(slots);
    vec![parts * u64::from(of.head_dim) * 4, parts * 4]
}

fn decode(spec: &KernelSpec, of: Sizes, keys: usize, span: Option<u32>) -> Result<Plan, String> {
    let blocks = of.batch.saturating_mul(of.heads / heads_at_once(of)?);
    let spans = Spans::new(keys, blocks, span)?;
    Ok(Plan {
        steps: vec![own_keys(spec, of, (1, spans), (0, spans.count))?, merge(spec, of, spans.count)?],
        scratch: scratch(of, spans.count),
        details: vec![("span", spans.span.to_string())],
    })
}

fn shared(
    spec: &KernelSpec,
    of: Sizes,
    [prefix, suffix]: [usize; 2],
    (tile, span): (Tile, Option<u32>),
) -> Result<Plan, String> {
    let rows = of.batch.checked_mul(of.share).ok_or("too many query rows")?;
    let tiles = rows.div_ceil(tile.rows);
    let common = Spans::new(prefix, tiles.saturating_mul(of.kv_heads), span)?;
    let single = Spans::new(suffix, of.batch.saturating_mul(of.heads / heads_at_once(of)?), span)?;
    let slots = common.count + single.count;
    let defines = of
        .defines(spec)?
        .flag("PARTIAL", true)
        .set("KEYS", common.keys)
        .set("SPAN", common.span)
        .set("SLOT", 0)
        .set("SLOTS", slots)
        .set("ROWS", rows)
        .set("CAUSAL", 0)
        .set("BK", tile.keys);
    let first = Step {
        source: tile.source,
        defines,
        arguments: vec![Slot::Input(0), Slot::Input(1), Slot::Input(2), Slot::Scratch(0), Slot::Scratch(1)],
        grid: [tiles, of.kv_heads, common.count],
        block: 128,
    };
    Ok(Plan {
        steps: vec![first, own_keys(spec, of, (3, single), (common.count, slots))?, merge(spec, of, slots)?],
        scratch: scratch(of, slots),
        details: vec![("prefix_span", common.span.to_string()), ("span", single.span.to_string())],
    })
}
