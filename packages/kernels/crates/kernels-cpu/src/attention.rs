//! Attention by running softmax: parts of the tokens are attended to apart and merged by log-sum-exp, which is exact up to
//! rounding in any order and nesting (Hydragen, arXiv 2402.05099; flash decoding).
#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use rayon::prelude::*;

use crate::{
    count::Count,
    element::{Element, dot, narrow_all, scale_all, widen_all},
    isa::{Isa, Work, exp, on_best},
    norms::{exp_all, largest, real},
};

/// Tokens whose keys and values are held in cache at a time.
const TILE: usize = 32;

/// Query tokens of a prefill that one core takes at a time.
const QUERIES: usize = 32;

/// A split has at least so many tokens.
const LEAST_TOKENS: usize = 64;

/// Tasks per core that splits aim at.
const TASKS: usize = 4;

/// The heads of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Query heads.
    pub query: usize,
    /// Key and value heads, a divisor of `query`.
    pub kv: usize,
    /// Size of a head.
    pub dim: usize,
}

impl Heads {
    /// Query heads that share a key head.
    const fn group(self) -> usize {
        self.query / self.kv
    }
}

/// What queries have seen of some tokens: the largest score, the sum of e^(score − largest), and the values weighted by it.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    dim: usize,
    most: Vec<f32>,
    sum: Vec<f32>,
    weighted: Vec<f32>,
}

impl Partial {
    /// Of queries that have seen nothing.
    pub fn new(queries: usize, dim: usize) -> Self {
        let (most, sum) = (vec![f32::NEG_INFINITY; queries], vec![0.0; queries]);
        Self { dim, most, sum, weighted: vec![0.0; queries * dim] }
    }

    /// The same having also seen what `other`, of the same queries, saw.
    pub fn merge(&mut self, other: &Self) {
        for query in 0..self.most.len() {
            let most = self.most[query].max(other.most[query]);
            if most == f32::NEG_INFINITY {
                continue;
            }
            let (own, its) = ((self.most[query] - most).exp(), (other.most[query] - most).exp());
            self.most[query] = most;
            self.sum[query] = own * self.sum[query] + its * other.sum[query];
            let range = query * self.dim..(query + 1) * self.dim;
            for (sum, part) in self.weighted[range.clone()].iter_mut().zip(&other.weighted[range]) {
                *sum = own * *sum + its * part;
            }
        }
    }

    /// The values' weighted mean, by query. NaN of a query that saw nothing.
    pub fn finish(mut self) -> Vec<f32> {
        for (row, sum) in self.weighted.chunks_exact_mut(self.dim).zip(&self.sum) {
            for x in row.iter_mut() {
                *x /= sum;
            }
        }
        self.weighted
    }

    /// The part of it that belongs to queries from `first` on.
    fn slice(&self, first: usize, queries: usize) -> Self {
        let (rows, all) = (first..first + queries, first * self.dim..(first + queries) * self.dim);
        let (most, sum) = (self.most[rows.clone()].to_vec(), self.sum[rows].to_vec());
        Self { dim: self.dim, most, sum, weighted: self.weighted[all].to_vec() }
    }
}

/// Lets queries (n×D in f32, already divided by √D) see tokens, whose keys and values (T×D) are each read once.
pub fn attend<E: Element, C: Count>(
    queries: &[f32],
    keys: &[E],
    values: &[E],
    count: &C,
    seen: &mut Partial,
) {
    on_best(Attend { queries, keys, values, visible: |_| usize::MAX, count, seen });
}

struct Attend<'a, E, C, V> {
    queries: &'a [f32],
    keys: &'a [E],
    values: &'a [E],
    /// How many tokens a query may see.
    visible: V,
    count: &'a C,
    seen: &'a mut Partial,
}

impl<E: Element, C: Count, V: Fn(usize) -> usize> Work for Attend<'_, E, C, V> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let dim = self.seen.dim;
        let mut scratch = vec![0.0; 2 * TILE * dim];
        let (wide_keys, wide_values) = scratch.split_at_mut(TILE * dim);
        let mut scores = [0.0; TILE];
        let tiles = self.keys.chunks(TILE * dim).zip(self.values.chunks(TILE * dim));
        for (tile, (keys, values)) in tiles.enumerate() {
            self.count.add(size_of_val(keys) + size_of_val(values));
            let keys = E::as_f32(isa, keys, &mut wide_keys[..keys.len()]);
            let values = E::as_f32(isa, values, &mut wide_values[..values.len()]);
            for (query, row) in self.queries.chunks_exact(dim).enumerate() {
                let tokens = (self.visible)(query).saturating_sub(tile * TILE).min(keys.len() / dim);
                if tokens > 0 {
                    let scores = &mut scores[..tokens];
                    for (score, key) in scores.iter_mut().zip(keys.chunks_exact(dim)) {
                        *score = dot(isa, key, row);
                    }
                    see(isa, scores, values, query, self.seen);
                }
            }
        }
    }
}

/// Takes tokens of these scores and values into what a query has seen.
#[inline(always)]
fn see<I: Isa>(isa: I, scores: &mut [f32], values: &[f32], query: usize, seen: &mut Partial) {
    let dim = seen.dim;
    let most = largest(isa, scores).max(seen.most[query]);
    let kept = exp(seen.most[query] - most);
    seen.most[query] = most;
    seen.sum[query] = kept * seen.sum[query] + exp_all(isa, scores, most);
    let row = &mut seen.weighted[query * dim..(query + 1) * dim];
    let (blocks, rest) = row.as_chunks_mut::<32>();
    let done = 32 * blocks.len();
    for (at, block) in blocks.iter_mut().enumerate() {
        weigh::<_, 4>(isa, (kept, scores), &values[32 * at..], dim, block);
    }
    let (blocks, rest) = rest.as_chunks_mut::<8>();
    let first = dim - rest.len();
    for (at, block) in blocks.iter_mut().enumerate() {
        weigh::<_, 1>(isa, (kept, scores), &values[done + 8 * at..], dim, block);
    }
    for (at, x) in rest.iter_mut().enumerate() {
        let weighted =
            scores.iter().zip(values.chunks_exact(dim)).map(|(weight, value)| weight * value[first + at]);
        *x = kept * *x + weighted.sum::<f32>();
    }
}

/// kept·sums + Σ weight·value in `N` blocks of eight columns, which `values` begins with; rows are `dim` apart.
#[inline(always)]
fn weigh<I: Isa, const N: usize>(
    isa: I,
    (kept, weights): (f32, &[f32]),
    values: &[f32],
    dim: usize,
    sums: &mut [f32],
) {
    let sums = sums.as_chunks_mut::<8>().0;
    let kept = isa.splat(kept);
    let mut wide = [kept; N];
    for (wide, sum) in wide.iter_mut().zip(sums.iter()) {
        *wide = isa.mul(kept, isa.load(sum));
    }
    for (weight, value) in weights.iter().zip(values.chunks(dim)) {
        let weight = isa.splat(*weight);
        for (wide, value) in wide.iter_mut().zip(value.as_chunks::<8>().0) {
            *wide = isa.fma(weight, isa.load(value), *wide);
        }
    }
    for (wide, sum) in wide.iter().zip(sums) {
        *sum = isa.store(*wide);
    }
}

/// Into how many parts `tokens` are split so that `tasks` of them keep all cores busy.
fn splits(tokens: usize, tasks: usize) -> usize {
    let wanted = (TASKS * rayon::current_num_threads()).div_ceil(tasks.max(1));
    wanted.min(tokens.div_ceil(LEAST_TOKENS)).max(1)
}

/// Queries as f32 over √D.
fn scaled<E: Element, C: Count>(q: &[E], dim: usize, count: &C) -> Vec<f32> {
    count.add(size_of_val(q));
    let mut wide = vec![0.0; q.len()];
    on_best(Scale { q, factor: 1.0 / real(dim).sqrt(), wide: &mut wide });
    wide
}

struct Scale<'a, E> {
    q: &'a [E],
    factor: f32,
    wide: &'a mut [f32],
}

impl<E: Element> Work for Scale<'_, E> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        widen_all(isa, self.q, self.wide);
        scale_all(isa, self.wide, self.factor);
    }
}

struct Narrow<'a, E>(&'a [f32], &'a mut [E]);

impl<E: Element> Work for Narrow<'_, E> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        narrow_all(isa, self.0, self.1);
    }
}

/// What the queries of each cache saw of it; `caches` of `tokens`×D each, the queries of one after another. A cache is
/// read by parts on several cores.
fn attend_caches<E: Element, C: Count>(
    queries: &[f32],
    (keys, values): (&[E], &[E]),
    (caches, tokens, dim): (usize, usize, usize),
    count: &C,
) -> Vec<Partial> {
    let (per_cache, parts) = (queries.len() / caches, splits(tokens, caches));
    let step = tokens.div_ceil(parts);
    let seen: Vec<Partial> = (0..caches * parts)
        .into_par_iter()
        .map(|task| {
            let (cache, first) = (task / parts, task % parts * step);
            let range = (cache * tokens + first.min(tokens)) * dim
                ..(cache * tokens + (first + step).min(tokens)) * dim;
            let queries = &queries[cache * per_cache..(cache + 1) * per_cache];
            let mut seen = Partial::new(per_cache / dim, dim);
            attend(queries, &keys[range.clone()], &values[range], count, &mut seen);
            seen
        })
        .collect();
    let merged = seen.chunks(parts).map(|parts| {
        let mut whole = parts[0].clone();
        parts[1..].iter().for_each(|part| whole.merge(part));
        whole
    });
    merged.collect()
}

/// One new token per sequence: q is B×H×D, k and v are B×KV×L×D. Each key and value is read once for all heads of its
/// group.
pub fn decode_attention<E: Element, C: Count>(
    heads: Heads,
    q: &[E],
    kv: (&[E], &[E]),
    out: &mut [E],
    count: &C,
) {
    let caches = q.len() / heads.dim / heads.query * heads.kv;
    let tokens = kv.0.len() / caches / heads.dim;
    let queries = scaled(q, heads.dim, count);
    let seen = attend_caches(&queries, kv, (caches, tokens, heads.dim), count);
    write_out(seen, out, count);
}

fn write_out<E: Element, C: Count>(seen: Vec<Partial>, out: &mut [E], count: &C) {
    count.add(size_of_val(out));
    let whole: Vec<f32> = seen.into_iter().flat_map(Partial::finish).collect();
    on_best(Narrow(&whole, out));
}

/// The same where all sequences begin with one prefix, given as KV×P×D: it is read once for the queries of all of them,
/// what follows (B×KV×S×D) once for its own.
pub fn shared_prefix_decode<E: Element, C: Count>(
    heads: Heads,
    q: &[E],
    prefix: (&[E], &[E]),
    suffix: (&[E], &[E]),
    out: &mut [E],
    count: &C,
) {
    shared_prefix_attention(
        heads,
        q,
        &[(prefix, 1), (suffix, q.len() / heads.dim / heads.query)],
        out,
        count,
    );
}

/// Keys and values of one level of a tree of prefixes, and of how many branches they are: branches×KV×tokens×D.
type Level<'a, E> = ((&'a [E], &'a [E]), usize);

/// The same for a tree of prefixes: each level has as many branches as it says, the sequences being shared out to them
/// evenly and in order. Levels may be empty.
pub fn shared_prefix_attention<E: Element, C: Count>(
    heads: Heads,
    q: &[E],
    levels: &[Level<'_, E>],
    out: &mut [E],
    count: &C,
) {
    let (group, dim) = (heads.group(), heads.dim);
    let sequences = q.len() / dim / heads.query;
    let queries = scaled(q, dim, count);
    let mut whole: Vec<Partial> = vec![Partial::new(group, dim); sequences * heads.kv];
    for ((keys, values), branches) in levels {
        let caches = branches * heads.kv;
        let (tokens, followers) = (keys.len() / caches / dim, sequences / branches);
        if tokens == 0 {
            continue;
        }
        let gathered = gather(&queries, heads, followers);
        let seen = attend_caches(&gathered, (keys, values), (caches, tokens, dim), count);
        for (cache, seen) in seen.iter().enumerate() {
            for follower in 0..followers {
                let sequence = cache / heads.kv * followers + follower;
                let own = &mut whole[sequence * heads.kv + cache % heads.kv];
                own.merge(&seen.slice(follower * group, group));
            }
        }
    }
    write_out(whole, out, count);
}

/// Queries (B×H×D) in the order branch, key head, sequence of the branch, head of the group.
fn gather(queries: &[f32], heads: Heads, followers: usize) -> Vec<f32> {
    let row = heads.group() * heads.dim;
    let branches = queries.len() / row / heads.kv / followers;
    let mut gathered = Vec::with_capacity(queries.len());
    for branch in 0..branches {
        for head in 0..heads.kv {
            for follower in 0..followers {
                let at = ((branch * followers + follower) * heads.kv + head) * row;
                gathered.extend_from_slice(&queries[at..at + row]);
            }
        }
    }
    gathered
}

/// Whole sequences: q is B×H×L×D, k and v are B×KV×L×D. By tiles of 32 queries, each of which reads what it may see.
pub fn prefill_attention<E: Element>(
    heads: Heads,
    length: usize,
    causal: bool,
    q: &[E],
    kv: (&[E], &[E]),
    out: &mut [E],
) {
    let dim = heads.dim;
    let queries = scaled(q, dim, &crate::count::Uncounted);
    let tiles: Vec<(usize, &mut [E])> = out
        .chunks_mut(length * dim)
        .enumerate()
        .flat_map(|(row, out)| {
            out.chunks_mut(QUERIES * dim)
                .enumerate()
                .map(move |(tile, out)| (row * length + tile * QUERIES, out))
        })
        .collect();
    tiles.into_par_iter().for_each(|(first, out)| {
        let (row, token) = (first / length, first % length);
        let cache = row / heads.query * heads.kv + row % heads.query / heads.group();
        let rows = out.len() / dim;
        let end = if causal { token + rows } else { length };
        let range = cache * length * dim..(cache * length + end) * dim;
        let mut seen = Partial::new(rows, dim);
        on_best(Attend {
            queries: &queries[first * dim..(first + rows) * dim],
            keys: &kv.0[range.clone()],
            values: &kv.1[range],
            visible: |query| if causal { token + query + 1 } else { length },
            count: &crate::count::Uncounted,
            seen: &mut seen,
        });
        on_best(Narrow(&seen.finish(), out));
    });
}

#[cfg(test)]
#[path = "attention_tests.rs"]
mod tests;
