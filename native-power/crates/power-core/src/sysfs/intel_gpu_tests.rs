use super::{SLOWEST, open_intel_gpu};
use crate::{
    Event, MonotonicClock, Nanos, PowerError, PowerSource, Sampler,
    sysfs::tree::{Tree, book, domains, excluded},
};

const CARD: &str = "pci0000:00/0000:03:00.0";

fn tree() -> Tree {
    let tree = Tree::new(&[]);
    let files =
        [("energy1_input", "1000000"), ("energy2_input", "500000"), ("power1_rated_max", "225000000")];
    tree.chip("hwmon5", "xe", CARD, &files);
    tree.chip("hwmon6", "i915_gt0", CARD, &[("energy1_input", "1")]);
    tree
}

#[test]
fn the_package_lies_inside_the_card() {
    let tree = tree();
    let Ok(mut source) = open_intel_gpu(&tree) else { unreachable!("a readable card opens") };
    assert_eq!(
        domains(&source),
        [
            ("intel-gpu-hwmon:0000:03:00.0:card", "gpu", true),
            ("intel-gpu-hwmon:0000:03:00.0:package", "gpu", false)
        ]
    );
    let last = book(&mut source, &[0, 1, 2], |at| {
        tree.set("sys/class/hwmon/hwmon5/energy1_input", &format!("{}", 1_000_000 + at * 100_000_000));
        tree.set("sys/class/hwmon/hwmon5/energy2_input", &format!("{}", 500_000 + at * 60_000_000));
    });
    assert_eq!(last.iter().map(|s| s.booked.get()).collect::<Vec<_>>(), [200.0, 120.0], "never 320 J");
}

#[test]
fn a_card_without_a_number_of_its_own_is_told_by_its_package() {
    let tree = Tree::new(&[]);
    tree.chip("hwmon5", "xe", CARD, &[("energy2_input", "1")]);
    let Ok(source) = open_intel_gpu(&tree) else { unreachable!("a package is enough") };
    assert_eq!(domains(&source), [("intel-gpu-hwmon:0000:03:00.0:package", "gpu", true)]);
    assert!(excluded(&source).is_empty());
}

#[test]
fn graphics_of_the_cpu_are_in_its_package_already() {
    let tree = Tree::new(&[]);
    tree.chip("hwmon5", "i915", "pci0000:00/0000:00:02.0", &[("energy1_input", "1")]);
    let Err(PowerError::Unusable { reason, .. }) = open_intel_gpu(&tree) else {
        unreachable!("counted what lies in the package")
    };
    assert_eq!(
        reason,
        "intel-gpu-hwmon:0000:00:02.0:card: graphics of the CPU: lies inside its package; never added to it"
    );
    tree.chip("hwmon6", "xe", CARD, &[("energy1_input", "1")]);
    let Ok(source) = open_intel_gpu(&tree) else { unreachable!("a card beside it opens") };
    assert_eq!(
        domains(&source),
        [
            ("intel-gpu-hwmon:0000:00:02.0:card", "gpu", false),
            ("intel-gpu-hwmon:0000:03:00.0:card", "gpu", true)
        ]
    );
}

#[test]
fn twice_the_limit_bounds_what_is_believed() {
    let jump = |limited: bool| {
        let tree = tree();
        if !limited {
            assert!(std::fs::remove_file(tree.join("sys/class/hwmon/hwmon5/power1_rated_max")).is_ok());
        }
        let Ok(mut source) = open_intel_gpu(&tree) else { unreachable!("a readable card opens") };
        let last = book(&mut source, &[0, 1], |at| {
            tree.set("sys/class/hwmon/hwmon5/energy1_input", &format!("{}", 1_000_000 + at * 460_000_000));
        });
        last[0].event
    };
    assert_eq!(jump(true), Event::Suspect, "460 W from a card of 225 W");
    assert_eq!(jump(false), Event::Ok);
}

#[test]
fn it_is_never_read_so_rarely_that_the_driver_would_miss_a_lap() {
    let tree = tree();
    let start = |period: Nanos| {
        let Ok(source) = open_intel_gpu(&tree) else { unreachable!("a readable card opens") };
        assert_eq!(source.slowest_period(), Some(SLOWEST));
        Sampler::start(Box::new(source), MonotonicClock, period)
    };
    assert!(start(SLOWEST).is_ok());
    let error = start(SLOWEST + Nanos(1)).err();
    assert!(matches!(error, Some(PowerError::TooRare { .. })), "{error:?}");
}
