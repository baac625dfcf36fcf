use kernels_core::{KernelSpec, PrefixMethod, Shape};

use crate::{
    plan::{Binding, Facts, Grid, MOST_GROUPS, Plan, Slot, Step, element, memory, size, whole},
    shader::Shader,
    template::Values,
};

const FLASH: &str = include_str!("../shaders/attention.wgsl");
const DECODE: &str = include_str!("../shaders/decode.wgsl");
const MERGE: &str = include_str!("../shaders/merge.wgsl");

/// Query rows of a workgroup of `attention.wgsl`: eight invocations each.
const QUERY_ROWS: u32 = 16;
/// Workgroups that keep any device busy; keys are divided until there are so many, or a span is this short.
const ENOUGH_GROUPS: u32 = 1024;
const SHORTEST_SPAN: u32 = 256;

/// Sizes of an attention kernel.
#[derive(Clone, Copy)]
struct Sizes {
    batch: u32,
    heads: u32,
    kv_heads: u32,
    /// Query heads of a key head.
    share: u32,
    /// Quads of a head.
    quads: u32,
}

impl Sizes {
    fn new([batch, heads, kv_heads, head_dim]: [usize; 4]) -> Result<Self, String> {
        let dim = whole("head_dim", head_dim, 4)?;
        let (batch, heads, kv_heads) = (size(batch)?, size(heads)?, size(kv_heads)?);
        for (name, count) in [("batch", batch), ("heads", heads)] {
            if count > MOST_GROUPS {
                return Err(format!("{name} {count} is more than {MOST_GROUPS}"));
            }
        }
        Ok(Self { batch, heads, kv_heads, share: heads / kv_heads, quads: dim / 4 })
    }

    fn scale(self) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a head has a few hundred elements")]
        let dim = (self.quads * 4) as f32;
        1.0 / dim.sqrt()
    }

    fn values(self) -> Values {
        Values::default()
            .number("D", self.quads * 4)
            .number("HEADS", self.heads)
            .number("SHARE", self.share)
            .number("Q_HEAD", self.quads)
            .number("Q_BATCH", self.heads * self.quads)
            .number("K_ROW", self.quads)
            .real("SCALE", self.scale())
    }
}

/// Keys divided over workgroups.
#[derive(Clone, Copy)]
struct Spans {
    keys: u32,
    span: u32,
    count: u32,
}

impl Spans {
    /// As many spans as make enough workgroups of `groups`, none shorter than the shortest, unless `span` is asked for.
    fn new(keys: usize, groups: u32, span: Option<u32>) -> Result<Self, String> {
        let keys = size(keys)?;
        let wanted = ENOUGH_GROUPS.div_ceil(groups.max(1)).clamp(1, keys.div_ceil(SHORTEST_SPAN));
        let span = span.unwrap_or_else(|| keys.div_ceil(wanted).next_multiple_of(32)).clamp(1, keys);
        let count = keys.div_ceil(span);
        if count > MOST_GROUPS {
            Err(format!("{count} spans are too many"))
        } else {
            Ok(Self { keys, span, count })
        }
    }

    fn values(self, values: Values) -> Values {
        values.number("KEYS", self.keys).number("SPAN", self.span)
    }
}

/// The implementations of a shared-prefix decode.
pub(crate) fn prefix_candidates(spec: &KernelSpec) -> &'static [&'static str] {
    match spec.shape {
        Shape::SharedPrefix { method: PrefixMethod::Shared, .. } => &["wgsl-shared-prefix"],
        _ => &["wgsl-split-kv"],
    }
}

/// How an attention kernel is done.
///
/// # Errors
/// Why it can't be, in words.
pub(crate) fn plan(spec: &KernelSpec, facts: &Facts, span: Option<u32>) -> Result<Plan, String> {
    match spec.shape {
        Shape::Prefill { batch, heads, kv_heads, head_dim, length, causal } => {
            prefill(spec, Sizes::new([batch, heads, kv_heads, head_dim])?, (size(length)?, causal), facts)
        }
        Shape::Decode { batch, heads, kv_heads, head_dim, length } => {
            decode(spec, Sizes::new([batch, heads, kv_heads, head_dim])?, length, (facts, span))
        }
        Shape::SharedPrefix { batch, heads, kv_heads, head_dim, prefix, suffix, method } => {
            let of = Sizes::new([batch, heads, kv_heads, head_dim])?;
            match method {
                PrefixMethod::Naive => decode(spec, of, prefix + suffix, (facts, span)),
                PrefixMethod::Shared => shared(spec, of, [prefix, suffix], (facts, span)),
            }
        }
        _ => Err(format!("{} is no attention", spec.kind())),
    }
}

/// The most keys of a tile that fit beside the query rows, and what they add to the constants.
fn tile(of: Sizes, values: Values, facts: &Facts) -> Result<Values, String> {
    let pitch = of.quads + 1;
    let bytes = |keys: u32| 16 * pitch * (QUERY_ROWS + keys) + 4 * QUERY_ROWS * (keys + 1);
    memory(bytes(8), facts)?;
    let keys = if bytes(32) <= facts.workgroup_bytes {
        32
    } else if bytes(16) <= facts.workgroup_bytes {
        16
    } else {
        8
    };
    Ok(values
        .number("GROUP", 8 * QUERY_ROWS)
        .number("BQ", QUERY_ROWS)
        .number("BK", keys)
        .number("OWNED_KEYS", keys / 8)
        .number("OWNED", of.quads.div_ceil(8)))
}

fn prefill(
    spec: &KernelSpec,
    of: Sizes,
    (length, causal): (u32, bool),
    facts: &Facts,
) -> Result<Plan, String> {
    let values = tile(of, of.values(), facts)?
        .number("Q_HEAD", length * of.quads)
        .number("Q_BATCH", of.heads * length * of.quads)
        .number("Q_ROW", of.quads)
        .number("K_HEAD", length * of.quads)
        .number("K_BATCH", of.kv_heads * length * of.quads)
        .number("KEYS", length)
        .number("ROWS", length)
        .flag("CAUSAL", causal);
    let (input, output) = (Some(element(spec.dtype, facts)?), Some(element(spec.output, facts)?));
    let step = Step {
        shader: Shader { name: "attention", templates: &[FLASH], input, output, values },
        bindings: [Slot::Input(0), Slot::Input(1), Slot::Input(2), Slot::Output].map(Binding::part).to_vec(),
        outer: of.batch,
        grid: Grid::Layers(length.div_ceil(QUERY_ROWS), of.heads),
    };
    Ok(Plan { steps: vec![step], scratch: Vec::new(), details: Vec::new() })
}

/// Where a step's spans stand among all partial results of a sequence and head.
#[derive(Clone, Copy)]
struct Slots {
    first: u32,
    all: u32,
}

impl Slots {
    fn values(self, values: Values) -> Values {
        values.number("SLOT", self.first).number("SLOTS", self.all)
    }
}

/// Query heads that a workgroup of `decode.wgsl` takes: the most that share a key head, divide its share and fit.
fn heads_at_once(of: Sizes, facts: &Facts) -> Result<u32, String> {
    if of.quads > 128 {
        return Err(format!("head_dim {} is more than 512", of.quads * 4));
    }
    let bytes = |heads: u32| heads * (16 * of.quads + 32 * 4 + 32 * 8 * 4 + 16) + 128 * 20;
    memory(bytes(1), facts)?;
    let fitting =
        (1..=8).rev().find(|&heads| of.share.is_multiple_of(heads) && bytes(heads) <= facts.workgroup_bytes);
    Ok(fitting.unwrap_or(1))
}

/// The step that attends to each sequence's own keys. Inputs `k` and `v` are at `cache` and after.
fn own_keys(
    spec: &KernelSpec,
    of: Sizes,
    (cache, spans, slots): (usize, Spans, Slots),
    facts: &Facts,
) -> Result<Step, String> {
    let together = heads_at_once(of, facts)?;
    let values = slots
        .values(spans.values(of.values()))
        .number("K_HEAD", spans.keys * of.quads)
        .number("K_BATCH", of.kv_heads * spans.keys * of.quads)
        .number("SHARED", together)
        .number("CREWS", 128 / of.quads);
    let bindings =
        [Slot::Input(0), Slot::Input(cache), Slot::Input(cache + 1), Slot::Scratch(0), Slot::Scratch(1)]
            .map(Binding::part);
    Ok(Step {
        shader: Shader {
            name: "decode",
            templates: &[DECODE],
            input: Some(element(spec.dtype, facts)?),
            output: None,
            values,
        },
        bindings: bindings.to_vec(),
        outer: of.batch,
        grid: Grid::Layers(spans.count, of.heads / together),
    })
}

/// The step that joins all spans.
fn merge(spec: &KernelSpec, of: Sizes, slots: u32, facts: &Facts) -> Result<Step, String> {
    let values = Values::default().number("D", of.quads * 4).number("SLOTS", slots);
    let output = Some(element(spec.output, facts)?);
    Ok(Step {
        shader: Shader { name: "merge", templates: &[MERGE], input: None, output, values },
        bindings: [Slot::Scratch(0), Slot::Scratch(1), Slot::Output].map(Binding::part).to_vec(),
        outer: of.batch,
        grid: Grid::Folded(of.heads),
    })
}

/// Bytes of the partial outputs, and of the logs of their sums.
fn scratch(of: Sizes, slots: u32) -> Vec<u64> {
    let parts = u64::from(of.batch) * u64::from(of.heads) * u64::from(slots);
    vec![parts * u64::from(of.quads) * 16, parts * 4]
}

fn decode(
    spec: &KernelSpec,
    of: Sizes,
    keys: usize,
    (facts, span): (&Facts, Option<u32>),
) -> Result<Plan, String> {
    let groups = of.batch.saturating_mul(of.heads / heads_at_once(of, facts)?);
    let spans = Spans::new(keys, groups, span)?;
    let slots = Slots { first: 0, all: spans.count };
    Ok(Plan {
        steps: vec![own_keys(spec, of, (1, spans, slots), facts)?, merge(spec, of, slots.all, facts)?],
        scratch: scratch(of, slots.all),
        details: vec![("span", spans.span.to_string())],
    })
}

fn shared(
    spec: &KernelSpec,
    of: Sizes,
    [prefix, suffix]: [usize; 2],
    (facts, span): (&Facts, Option<u32>),
) -> Result<Plan, String> {
    let rows = of.batch.checked_mul(of.share).ok_or("too many query rows")?;
    let tiles = rows.div_ceil(QUERY_ROWS);
    let common = Spans::new(prefix, tiles.saturating_mul(of.kv_heads), span)?;
    let single = Spans::new(suffix, of.batch.saturating_mul(of.heads / heads_at_once(of, facts)?), span)?;
    let all = common.count + single.count;
    let values = Slots { first: 0, all }
        .values(common.values(tile(of, of.values(), facts)?))
        .number("ROWS", rows)
        .number("K_HEAD", common.keys * of.quads)
        .number("CAUSAL", 0)
        .flag("PARTIAL", true);
    let bindings = [Slot::Input(0), Slot::Input(1), Slot::Input(2), Slot::Scratch(0), Slot::Scratch(1)]
        .map(Binding::whole)
        .to_vec();
    let first = Step {
        shader: Shader {
            name: "attention to a prefix",
            templates: &[FLASH],
            input: Some(element(spec.dtype, facts)?),
            output: None,
            values,
        },
        bindings,
        outer: 1,
        grid: Grid::Fixed([tiles, of.kv_heads, common.count]),
    };
    let own = own_keys(spec, of, (3, single, Slots { first: common.count, all }), facts)?;
    Ok(Plan {
        steps: vec![first, own, merge(spec, of, all, facts)?],
        scratch: scratch(of, all),
        details: vec![("prefix_span", common.span.to_string()), ("span", single.span.to_string())],
    })
}
