use kernels_core::{DType, Inputs, KernelError, KernelSpec, PrefixMethod, Reference, Shape, counts};

use super::*;
use crate::count::{Counted, Uncounted};

fn floats(inputs: &Inputs, name: &str) -> Result<Vec<f32>, KernelError> {
    #[expect(clippy::cast_possible_truncation, reason = "f32 as f64")]
    Ok(inputs.get(name)?.values().into_iter().map(|x| x as f32).collect())
}

/// ‖a − b‖ / ‖b‖.
fn relative(a: &[f32], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let difference: f64 = a.iter().zip(b).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum();
    (difference / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
}

fn seed() -> u64 {
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| u64::from(time.subsec_nanos()));
    eprintln_seed(seed);
    seed
}

#[expect(clippy::print_stderr, reason = "a failure can be repeated with it")]
fn eprintln_seed(seed: u64) {
    eprintln!("seed {seed}");
}

fn drawn(seed: u64, below: usize) -> usize {
    let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    usize::try_from((mixed ^ (mixed >> 29)) % below as u64).unwrap_or(0)
}

fn shared(batch: usize, prefix: usize, suffix: usize, method: PrefixMethod) -> Shape {
    Shape::SharedPrefix { batch, heads: 6, kv_heads: 2, head_dim: 40, prefix, suffix, method }
}

const HEADS: Heads = Heads { query: 6, kv: 2, dim: 40 };

#[test]
fn any_split_of_the_tokens_gives_plain_attention() -> Result<(), KernelError> {
    let seed = seed();
    let length = 150;
    let shape = Shape::Decode { batch: 1, heads: 3, kv_heads: 1, head_dim: 40, length };
    let spec = KernelSpec::new(shape, DType::F32)?.with_seed(seed);
    let inputs = Inputs::generate(&spec)?;
    let wanted = Reference::new(&spec, &inputs)?.whole();
    let (k, v) = (floats(&inputs, "k")?, floats(&inputs, "v")?);
    let queries = scaled(&floats(&inputs, "q")?, 40, &Uncounted);
    let part = |from: usize, to: usize| {
        let mut partial = Partial::new(3, 40);
        attend(&queries, &k[from * 40..to * 40], &v[from * 40..to * 40], &Uncounted, &mut partial);
        partial
    };
    for cut in 0..=length {
        let (mut left, right) = (part(0, cut), part(cut, length));
        left.merge(&right);
        let error = relative(&left.finish(), &wanted);
        assert!(error < 1e-5, "cut at {cut}: {error}");
    }
    for round in 0..50u64 {
        let mut cuts: Vec<usize> = (0..5).map(|at| drawn(seed ^ (round * 8 + at), length + 1)).collect();
        cuts.extend([0, length]);
        cuts.sort_unstable();
        let parts: Vec<Partial> = cuts.windows(2).map(|pair| part(pair[0], pair[1])).collect();
        let error = relative(&nested(&parts, seed ^ round).finish(), &wanted);
        assert!(error < 1e-5, "cuts {cuts:?}: {error}");
    }
    Ok(())
}

/// Merges in a random tree.
fn nested(parts: &[Partial], seed: u64) -> Partial {
    if let [only] = parts {
        return only.clone();
    }
    let cut = 1 + drawn(seed, parts.len() - 1);
    let (mut left, right) =
        (nested(&parts[..cut], seed.wrapping_mul(3)), nested(&parts[cut..], seed.wrapping_mul(5)));
    left.merge(&right);
    left
}

#[test]
fn a_shared_prefix_gives_what_the_naive_twin_gives() -> Result<(), KernelError> {
    let seed = seed();
    for (round, (batch, prefix, suffix)) in
        [(1, 1, 1), (3, 70, 5), (5, 5, 70), (2, 300, 1)].into_iter().enumerate()
    {
        let spec = KernelSpec::new(shared(batch, prefix, suffix, PrefixMethod::Shared), DType::F32)?;
        let spec = spec.with_seed(seed ^ round as u64);
        let inputs = Inputs::generate(&spec)?;
        let wanted = Reference::new(&spec, &inputs)?.whole();
        let parts: Vec<Vec<f32>> = ["q", "k_prefix", "v_prefix", "k_suffix", "v_suffix"]
            .into_iter()
            .map(|name| floats(&inputs, name))
            .collect::<Result<_, _>>()?;
        let (counted, mut out) = (Counted::default(), vec![f32::NAN; wanted.len()]);
        let (prefix, suffix) = ((&parts[1][..], &parts[2][..]), (&parts[3][..], &parts[4][..]));
        shared_prefix_decode(HEADS, &parts[0], prefix, suffix, &mut out, &counted);
        assert!(relative(&out, &wanted) < 1e-5, "{spec}: {}", relative(&out, &wanted));
        let naive = KernelSpec {
            shape: shared(batch, prefix.0.len() / 80, suffix.0.len() / 80 / batch, PrefixMethod::Naive),
            ..spec
        };
        let inputs = Inputs::generate(&naive)?;
        let (k, v) = (floats(&inputs, "k")?, floats(&inputs, "v")?);
        let mut twin = vec![f32::NAN; wanted.len()];
        decode_attention(HEADS, &parts[0], (&k, &v), &mut twin, &Uncounted);
        assert!(relative(&twin, &wanted) < 1e-5, "{naive}");
    }
    Ok(())
}

#[test]
fn a_tree_of_prefixes_nests() -> Result<(), KernelError> {
    let (sequences, levels) = (4, [(1usize, 33usize), (2, 7), (4, 65), (1, 0)]);
    let total: usize = levels.iter().map(|(_, tokens)| tokens).sum();
    let shape = Shape::Decode { batch: sequences, heads: 6, kv_heads: 2, head_dim: 40, length: total };
    let spec = KernelSpec::new(shape, DType::F32)?.with_seed(seed());
    let mut inputs = Inputs::generate(&spec)?;
    // Branches hold the first of their sequences' tokens, and all their sequences the same.
    let mut stored: Vec<(Vec<f32>, Vec<f32>)> = vec![(Vec::new(), Vec::new()); levels.len()];
    for (name, at) in [("k", 1), ("v", 2)] {
        let mut whole = floats(&inputs, name)?;
        let mut first = 0;
        for ((branches, tokens), stored) in levels.iter().zip(&mut stored) {
            for branch in 0..*branches {
                for head in 0..2 {
                    let followers = sequences / branches;
                    let place = |sequence: usize| ((sequence * 2 + head) * total + first) * 40;
                    let from = place(branch * followers);
                    let rows = whole[from..from + tokens * 40].to_vec();
                    for follower in 0..followers {
                        let to = place(branch * followers + follower);
                        whole[to..to + tokens * 40].copy_from_slice(&rows);
                    }
                    if at == 1 { stored.0.extend(rows) } else { stored.1.extend(rows) }
                }
            }
            first += tokens;
        }
        inputs.tensors[at].data = whole.iter().flat_map(|x| x.to_le_bytes()).collect();
    }
    let wanted = Reference::new(&spec, &inputs)?.whole();
    let tree: Vec<Level<'_, f32>> =
        levels.iter().zip(&stored).map(|((branches, _), (k, v))| ((&k[..], &v[..]), *branches)).collect();
    let mut out = vec![f32::NAN; wanted.len()];
    shared_prefix_attention(HEADS, &floats(&inputs, "q")?, &tree, &mut out, &Uncounted);
    assert!(relative(&out, &wanted) < 1e-5, "{}", relative(&out, &wanted));
    Ok(())
}

#[test]
fn the_bytes_that_are_moved_are_the_compulsory_ones() -> Result<(), KernelError> {
    for (batch, prefix, suffix) in [(1, 100, 30), (7, 513, 64), (16, 1000, 3)] {
        let mut moved = Vec::new();
        for method in [PrefixMethod::Shared, PrefixMethod::Naive] {
            let spec = KernelSpec::new(shared(batch, prefix, suffix, method), DType::F32)?;
            let inputs = Inputs::generate(&spec)?;
            let of = |name: &str| floats(&inputs, name);
            let (counted, mut out) = (Counted::default(), vec![0.0; spec.output_tensor().len()]);
            match method {
                PrefixMethod::Naive => {
                    decode_attention(HEADS, &of("q")?, (&of("k")?, &of("v")?), &mut out, &counted);
                }
                PrefixMethod::Shared => shared_prefix_decode(
                    HEADS,
                    &of("q")?,
                    (&of("k_prefix")?, &of("v_prefix")?),
                    (&of("k_suffix")?, &of("v_suffix")?),
                    &mut out,
                    &counted,
                ),
            }
            #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
            let bytes = counted.bytes() as f64;
            assert!((bytes - counts(&spec).bytes).abs() < 0.5, "{spec}: {bytes}");
            moved.push((bytes, spec));
        }
        let ratio = moved[1].0 / moved[0].0;
        let saving = kernels_core::prefix_saving(&moved[0].1);
        assert!(saving.is_some_and(|saving| (saving - ratio).abs() < 1e-12), "{ratio}");
    }
    Ok(())
}

#[test]
fn a_query_that_saw_nothing_stays_out_of_a_merge() {
    let mut nothing = Partial::new(1, 2);
    nothing.merge(&Partial::new(1, 2));
    assert!(nothing.clone().finish().iter().all(|x| x.is_nan()));
    let mut seen = Partial::new(1, 2);
    attend(&[1.0, 0.0], &[5.0f32, 0.0], &[3.0, 4.0], &Uncounted, &mut seen);
    nothing.merge(&seen);
    seen.merge(&Partial::new(1, 2));
    assert_eq!((nothing.finish(), seen.finish()), (vec![3.0, 4.0], vec![3.0, 4.0]));
}
