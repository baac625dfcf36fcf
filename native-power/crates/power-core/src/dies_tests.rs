use std::cell::RefCell;

use crate::{
    PowerSource, Rapl,
    file::open_file,
    sysfs::tree::{Tree, excluded},
};

const CLASS: &str = "sys/class/powercap";

thread_local! {
    /// What the counters do between two looks.
    static STEP: RefCell<Box<dyn FnMut()>> = RefCell::new(Box::new(|| {}));
}

fn pause() {
    STEP.with_borrow_mut(|step| step());
}

/// Folder, name, start, and growth after so many looks.
type Zone = (&'static str, &'static str, u64, fn(u64) -> u64);

/// Opens a host with these zones, whose counters start and then grow by so many µJ at each look.
fn open(zones: &'static [Zone]) -> (Tree, Vec<String>, Vec<String>) {
    let tree = Tree::new(&[]);
    let root = tree.to_path_buf();
    let mut look = 0;
    let mut write = move || {
        for (zone, name, start, grown) in zones {
            let folder = root.join(CLASS).join(zone);
            assert!(std::fs::create_dir_all(&folder).is_ok());
            let files = [("name", (*name).to_owned()), ("energy_uj", format!("{}", start + grown(look)))];
            for (file, text) in files {
                assert!(std::fs::write(folder.join(file), text).is_ok());
            }
        }
        look += 1;
    };
    write();
    STEP.set(Box::new(write));
    let Ok(rapl) = Rapl::open_paced(&tree, open_file, pause) else { unreachable!("a readable host opens") };
    let ids = rapl.domains().iter().map(|(d, _)| d.id.clone()).collect();
    let left_out = excluded(&rapl);
    (tree, ids, left_out)
}

const BOTH: [&str; 2] = ["rapl:0:package-0-die-0", "rapl:1:package-0-die-1"];

#[test]
fn dies_that_show_one_counter_are_counted_once() {
    let (_tree, ids, left_out) = open(&[
        ("intel-rapl:0", "package-0-die-0", 5_000_000, |look| look * 61_000),
        ("intel-rapl:1", "package-0-die-1", 5_000_120, |look| look * 61_000),
    ]);
    assert_eq!(ids, BOTH[..1], "and not twice the energy");
    assert_eq!(
        left_out,
        ["rapl:1:package-0-die-1: duplicate die: counts what rapl:0:package-0-die-0 counts"]
    );
}

#[test]
fn dies_with_counters_of_their_own_are_both_counted() {
    let (_tree, ids, _) = open(&[
        ("intel-rapl:0", "package-0-die-0", 5_000_000, |look| look * 61_000),
        ("intel-rapl:1", "package-0-die-1", 5_000_120, |look| look * 61_001),
    ]);
    assert_eq!(ids, BOTH, "they drift apart");
    let (_tree, ids, _) = open(&[
        ("intel-rapl:0", "package-0-die-0", 5_000_000, |look| look * 61_000),
        ("intel-rapl:1", "package-0-die-1", 5_500_000, |look| look * 61_000),
    ]);
    assert_eq!(ids, BOTH, "half a joule apart is no copy");
    let (_tree, ids, _) = open(&[
        ("intel-rapl:0", "package-0-die-0", 5_000_000, |_| 0),
        ("intel-rapl:1", "package-0-die-1", 5_000_000, |_| 0),
    ]);
    assert_eq!(ids, BOTH, "counters that stand still prove nothing");
    let (_tree, ids, _) = open(&[
        ("intel-rapl:0", "package-0-die-0", 5_000_000, |look| look.min(2) * 61_000),
        ("intel-rapl:1", "package-0-die-1", 5_000_000, |look| look.min(2) * 61_000),
    ]);
    assert_eq!(ids, BOTH, "two steps are too few");
}

#[test]
fn two_packages_that_happen_to_agree_are_two() {
    let (_tree, ids, _) = open(&[
        ("intel-rapl:0", "package-0-die-0", 5_000_000, |look| look * 61_000),
        ("intel-rapl:1", "package-1-die-0", 5_000_000, |look| look * 61_000),
        ("intel-rapl:2", "package-2", 5_000_000, |look| look * 61_000),
        ("intel-rapl:3", "package-3", 5_000_000, |look| look * 61_000),
    ]);
    assert_eq!(ids.len(), 4, "{ids:?}");
}

#[test]
fn of_three_copies_one_is_kept() {
    let (_tree, ids, left_out) = open(&[
        ("intel-rapl:0", "package-0-die-0", 5_000_000, |look| look * 61_000),
        ("intel-rapl:1", "package-0-die-1", 5_000_000, |look| look * 61_000),
        ("intel-rapl:2", "package-0-die-2", 5_000_000, |look| look * 61_000),
    ]);
    assert_eq!((ids.len(), left_out.len()), (1, 2));
}
