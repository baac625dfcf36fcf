use std::collections::BTreeMap;

/// What the names in a template stand for.
#[derive(Clone, Debug, Default)]
pub struct Values {
    numbers: BTreeMap<&'static str, u32>,
    reals: BTreeMap<&'static str, f32>,
}

impl Values {
    /// A whole number: a constant of the shader, a count for `#for`, a condition for `#if`.
    #[must_use]
    pub fn number(mut self, name: &'static str, value: u32) -> Self {
        self.numbers.insert(name, value);
        self
    }

    /// A condition for `#if`.
    #[must_use]
    pub fn flag(self, name: &'static str, value: bool) -> Self {
        self.number(name, u32::from(value))
    }

    /// A constant of the shader.
    #[must_use]
    pub fn real(mut self, name: &'static str, value: f32) -> Self {
        self.reals.insert(name, value);
        self
    }

    /// The value of a whole number.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// All of them as WGSL declarations.
    pub fn declarations(&self) -> String {
        let numbers = self.numbers.iter().map(|(name, value)| format!("const {name}: u32 = {value}u;\n"));
        let reals = self.reals.iter().map(|(name, value)| format!("const {name}: f32 = {value:e};\n"));
        numbers.chain(reals).collect()
    }
}

/// Writes a template out.
///
/// Lines between `#for x NAME` and `#end` are repeated NAME times (a number does too), with `${x}` counting from 0; those
/// between `#if NAME` and `#else` or `#end` stay if NAME is set and not 0, those after `#else` if not. Both nest.
///
/// # Errors
/// A directive that has no number, no end or no beginning.
pub fn expand(template: &str, values: &Values) -> Result<String, String> {
    let lines: Vec<&str> = template.lines().collect();
    let mut out = String::new();
    let mut open = Open { counters: Vec::new(), values };
    let end = open.block(&lines, 0, &mut Some(&mut out))?;
    match lines.get(end) {
        Some(line) => Err(format!("line {}: {line} without a beginning", end + 1)),
        None => Ok(out),
    }
}

/// Where the expansion stands.
struct Open<'a> {
    counters: Vec<(&'a str, u32)>,
    values: &'a Values,
}

impl<'a> Open<'a> {
    /// Writes lines from `at` to the `#else` or `#end` that isn't its own, or to the last; gives that line. Writes nothing
    /// without `out`.
    fn block(
        &mut self,
        lines: &[&'a str],
        mut at: usize,
        out: &mut Option<&mut String>,
    ) -> Result<usize, String> {
        while let Some(&line) = lines.get(at) {
            let mut words = line.trim_start().splitn(3, ' ');
            at = match (words.next(), words.next(), words.next()) {
                (Some("#for"), Some(counter), Some(count)) => {
                    self.repeat(lines, at, (counter, count), out)?
                }
                (Some("#if"), Some(name), None) => self.choose(lines, at, name, out)?,
                (Some("#else" | "#end"), None, None) => return Ok(at),
                _ => {
                    self.write(line, out);
                    at + 1
                }
            };
        }
        Ok(at)
    }

    fn repeat(
        &mut self,
        lines: &[&'a str],
        at: usize,
        (counter, count): (&'a str, &str),
        out: &mut Option<&mut String>,
    ) -> Result<usize, String> {
        let given = count.parse().ok().or_else(|| self.values.get(count));
        let count: u32 = given.ok_or_else(|| format!("line {}: {count} is not known", at + 1))?;
        let mut end = self.block(lines, at + 1, &mut None)?;
        for value in 0..count {
            self.counters.push((counter, value));
            end = self.block(lines, at + 1, out)?;
            self.counters.pop();
        }
        closed(lines, at, end)
    }

    fn choose(
        &mut self,
        lines: &[&'a str],
        at: usize,
        name: &str,
        out: &mut Option<&mut String>,
    ) -> Result<usize, String> {
        let holds = self.values.get(name).is_some_and(|value| value > 0);
        let mut middle =
            if holds { self.block(lines, at + 1, out)? } else { self.block(lines, at + 1, &mut None)? };
        if lines.get(middle).is_some_and(|line| line.trim() == "#else") {
            middle = if holds {
                self.block(lines, middle + 1, &mut None)?
            } else {
                self.block(lines, middle + 1, out)?
            };
        }
        closed(lines, at, middle)
    }

    fn write(&self, line: &str, out: &mut Option<&mut String>) {
        let Some(out) = out else { return };
        let mut line = line.to_owned();
        for (name, value) in &self.counters {
            line = line.replace(&format!("${{{name}}}"), &value.to_string());
        }
        out.push_str(&line);
        out.push('\n');
    }
}

fn closed(lines: &[&str], begun: usize, end: usize) -> Result<usize, String> {
    match lines.get(end) {
        Some(line) if line.trim() == "#end" => Ok(end + 1),
        _ => Err(format!("line {}: {} has no end", begun + 1, lines.get(begun).unwrap_or(&""))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_repeat_choose_and_nest() {
        let values = Values::default().number("N", 2).flag("ON", true).flag("OFF", false);
        let cases = [
            ("a", "a\n"),
            ("#for i N\nx${i}\n#end\ny", "x0\nx1\ny\n"),
            ("#for i 2\n#for j N\n${i}${j}\n#end\n#end", "00\n01\n10\n11\n"),
            ("#if ON\na\n#else\nb\n#end", "a\n"),
            ("#if OFF\na\n#else\nb\n#end\nc", "b\nc\n"),
            ("#if MISSING\na\n#end\nc", "c\n"),
            ("#if OFF\n#if ON\na\n#else\nb\n#end\n#for i 3\nc\n#end\n#else\nd\n#end", "d\n"),
            ("#for i 0\na\n#end\nb", "b\n"),
        ];
        for (template, expected) in cases {
            assert_eq!(expand(template, &values).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn a_template_with_a_mistake_says_where() {
        for (template, line) in [
            ("a\n#for i N\nb", "line 2"),
            ("#if A\nb", "line 1"),
            ("a\n#end", "line 2"),
            ("#for i WHAT\n#end", "line 1: WHAT"),
        ] {
            let fault = expand(template, &Values::default().number("N", 1)).err().unwrap_or_default();
            assert!(fault.contains(line), "{template}: {fault}");
        }
    }

    #[test]
    fn constants_are_declared_with_their_types() {
        let values = Values::default().number("N", 7).real("S", 0.125);
        assert_eq!(values.declarations(), "const N: u32 = 7u;\nconst S: f32 = 1.25e-1;\n");
    }
}
