use super::*;

struct All<'a> {
    x: &'a [f32; 8],
    exp: &'a mut [f32; 8],
    f16: &'a mut ([f16; 8], [f32; 8]),
    bf16: &'a mut ([bf16; 8], [f32; 8]),
    nibbles: &'a mut [f32; 8],
    arithmetic: &'a mut [f32; 8],
}

impl Work for All<'_> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let x = isa.load(self.x);
        *self.exp = isa.store(isa.exp(x));
        self.f16.0 = isa.narrow_f16(x);
        self.f16.1 = isa.store(isa.widen_f16(&self.f16.0));
        self.bf16.0 = isa.narrow_bf16(x);
        self.bf16.1 = isa.store(isa.widen_bf16(&self.bf16.0));
        *self.nibbles = isa.store(isa.nibbles(self.x[1].to_bits()));
        let two = isa.splat(2.0);
        *self.arithmetic = isa.store(isa.fma(two, isa.max(x, two), isa.add(x, isa.mul(two, two))));
    }
}

#[derive(Debug, Default, PartialEq)]
struct Results {
    exp: [f32; 8],
    f16: ([f16; 8], [f32; 8]),
    bf16: ([bf16; 8], [f32; 8]),
    nibbles: [f32; 8],
    arithmetic: [f32; 8],
}

fn results(x: &[f32; 8], run: impl FnOnce(All<'_>)) -> Results {
    let mut all = Results::default();
    let Results { exp, f16, bf16, nibbles, arithmetic } = &mut all;
    run(All { x, exp, f16, bf16, nibbles, arithmetic });
    all
}

#[test]
fn every_set_computes_the_same() {
    for step in -8800..900i16 {
        let x = f32::from(step) / 100.0;
        let eight: [f32; 8] =
            std::array::from_fn(|lane| x + f32::from(u8::try_from(lane).unwrap_or(0)) / 4099.0);
        let (best, plain) = (results(&eight, |all| on_best(all)), results(&eight, |all| all.run(Plain)));
        assert_eq!(
            (&best.f16, &best.bf16, &best.nibbles),
            (&plain.f16, &plain.bf16, &plain.nibbles),
            "{eight:?}"
        );
        for (lane, &x) in eight.iter().enumerate() {
            let want = if x < -87.0 { 0.0 } else { f64::from(x).exp() };
            for got in [best.exp[lane], plain.exp[lane]] {
                assert!((f64::from(got) - want).abs() <= 5e-7 * want, "e^{x}: {got}, not {want}");
            }
            let want = 2.0 * x.max(2.0) + x + 4.0;
            for got in [best.arithmetic[lane], plain.arithmetic[lane]] {
                assert!((got - want).abs() <= 1e-5 * want.abs().max(1.0), "{got}, not {want}");
            }
        }
    }
}

#[test]
fn what_is_no_number_stays_none_when_it_is_narrowed() {
    let odd = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, f32::MAX, f32::MIN_POSITIVE];
    for results in [results(&odd, |all| on_best(all)), results(&odd, |all| all.run(Plain))] {
        assert!(
            results.bf16.1[..2].iter().all(|x| x.is_nan()) && results.f16.1[..2].iter().all(|x| x.is_nan())
        );
        assert_eq!(results.bf16.1[2..6], odd[2..6]);
        assert_eq!(results.f16.1[2..6], odd[2..6]);
        assert!(results.bf16.1[6].is_infinite() && results.f16.1[6].is_infinite());
    }
}
