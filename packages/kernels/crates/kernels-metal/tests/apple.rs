//! The part that only macOS compiles, checked by the compiler for it, where that is asked for: it takes minutes.

use std::{
    env,
    path::Path,
    process::{Command, Output},
};

const TARGET: &str = "aarch64-apple-darwin";
const ASKED: &str = "PERWATT_CHECK_APPLE";

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn what_only_macos_compiles_is_right_by_its_types() -> Result<(), Box<dyn std::error::Error>> {
    if env::var_os(ASKED).is_none() {
        eprintln!("skipped: it takes minutes; {ASKED}=1 asks for it");
        return Ok(());
    }
    let libraries = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output()?;
    let folder = String::from_utf8_lossy(&libraries.stdout).trim().to_owned();
    if !libraries.status.success() || !Path::new(&folder).exists() {
        eprintln!("skipped: no standard library for {TARGET}; rustup target add {TARGET}");
        return Ok(());
    }
    let cargo = |arguments: &[&str]| {
        Command::new(env!("CARGO"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(arguments)
            .args(["--target", TARGET, "--quiet"])
            .output()
    };
    let fetched = cargo(&["fetch", "--locked"])?;
    if !fetched.status.success() {
        eprintln!("skipped: its dependencies can't be had: {}", said(&fetched));
        return Ok(());
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("apple");
    let target = target.to_string_lossy();
    let checked = cargo(&["check", "--locked", "--target-dir", target.as_ref()])?;
    assert!(checked.status.success(), "{}", said(&checked));
    Ok(())
}
