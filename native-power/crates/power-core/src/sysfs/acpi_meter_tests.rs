use super::{error_ratio, open_acpi_meter};
use crate::{
    Joules, Missing, Nanos, PowerSource,
    sysfs::tree::{Tree, book, domains, missing, values},
};

fn meters(meters: &[&[(&str, &str)]]) -> Tree {
    let tree = Tree::new(&[]);
    for (k, files) in meters.iter().enumerate() {
        tree.chip(&format!("hwmon{k}"), "power_meter", &format!("LNXSYSTM:00/ACPI000D:0{k}"), files);
    }
    tree
}

#[test]
fn the_error_value_of_the_meter_is_not_four_megawatts() {
    let tree = meters(&[&[("power1_average", "250000000"), ("power1_average_interval", "2000")]]);
    let Ok(mut source) = open_acpi_meter(&tree) else { unreachable!("a readable meter opens") };
    assert_eq!(domains(&source), [("acpi-power-meter:ACPI000D:00", "system", true)]);
    assert_eq!(source.domains()[0].0.update_period, Nanos::from_millis(2000), "as the meter declares");
    let power = "sys/class/hwmon/hwmon0/power1_average";
    tree.set(power, "4294967295000");
    assert_eq!(values(&mut source), [missing(Missing::Sentinel)]);
    let last = book(&mut source, &[0, 2, 4], |at| {
        tree.set(power, if at == 2 { "4294967295000" } else { "250000000" });
    });
    assert_eq!(last[0].booked, Joules::new(1000.0), "and not 4 GJ");
}

#[test]
fn what_the_meter_says_of_its_accuracy_is_its_scale_error() {
    #[rustfmt::skip]
    let cases = [
        ("95.00%",  Some(0.05)),
        ("100.00%", Some(0.0)),
        ("0.00%",   None),
        ("120%",    None),
        ("",        None),
        ("NaN%",    None),
    ];
    for (text, expected) in cases {
        assert_eq!(error_ratio(text), expected, "{text:?}");
    }
    let tree = meters(&[&[("power1_average", "1"), ("power1_accuracy", "99.50%")]]);
    let Ok(source) = open_acpi_meter(&tree) else { unreachable!("a readable meter opens") };
    assert_eq!(source.domains()[0].0.scale_error_ratio, Some(0.005));
}

#[test]
fn on_grace_the_module_holds_the_chip_and_the_chip_its_parts() {
    let meter = |text| [("power1_average", "1000000"), ("power1_oem_info", text)];
    let parts = ["Grace Power Socket 0", "CPU Power Socket 0", "SysIO Power Socket 0"].map(meter);
    let module = meter("Module Power Socket 0");
    let all = meters(&[&module, &parts[0], &parts[1], &parts[2]]);
    let Ok(source) = open_acpi_meter(&all) else { unreachable!("readable meters open") };
    let summed = |source: &dyn PowerSource| -> Vec<_> {
        domains(source).iter().map(|(_, scope, in_total)| (scope.to_string(), *in_total)).collect()
    };
    let row = |scope: &str, in_total| (scope.to_owned(), in_total);
    assert_eq!(
        summed(&source),
        [row("module", true), row("package", false), row("cpu", false), row("cpu", false)]
    );
    let bare = meters(&[&parts[0], &parts[1], &parts[2]]);
    let Ok(source) = open_acpi_meter(&bare) else { unreachable!("readable meters open") };
    assert_eq!(summed(&source), [row("package", true), row("cpu", false), row("cpu", false)]);
}

#[test]
fn every_meter_has_an_identity_of_its_own() {
    let meter = |text| [("power1_average", "1000000"), ("power1_oem_info", text)];
    let twins = meters(&[&meter("CPU Power"), &meter("CPU Power"), &meter("SysIO Power Socket 0")]);
    let Ok(source) = open_acpi_meter(&twins) else { unreachable!("readable meters open") };
    let ids: Vec<_> = domains(&source).iter().map(|(id, _, _)| *id).collect();
    assert_eq!(
        ids,
        [
            "acpi-power-meter:ACPI000D:00:CPU-Power",
            "acpi-power-meter:ACPI000D:01:CPU-Power",
            "acpi-power-meter:SysIO-Power-Socket-0"
        ]
    );
}

#[test]
fn of_several_nameless_meters_only_one_is_counted() {
    let tree = meters(&[&[("power1_average", "1")], &[("power1_average", "1")]]);
    let Ok(source) = open_acpi_meter(&tree) else { unreachable!("readable meters open") };
    let counted: Vec<_> = domains(&source).iter().map(|(_, _, in_total)| *in_total).collect();
    assert_eq!(counted, [true, false]);
}
