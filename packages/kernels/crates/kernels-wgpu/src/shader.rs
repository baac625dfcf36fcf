use kernels_core::DType;

use crate::template::{Values, expand};

/// How the elements of a tensor are read and written in a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// f32.
    F32,
    /// f16 by the device's own 16-bit type.
    F16,
    /// f16 in pairs, for a device without 16-bit arithmetic.
    F16Packed,
    /// bf16 in pairs: no shading language has the type.
    Bf16,
    /// Sums of int8.
    I32,
    /// Sixteen bytes as they are.
    Words,
}

impl Element {
    /// How a floating type is read; None for a type that shaders have no way with.
    pub fn of(dtype: DType, native_f16: bool) -> Option<Self> {
        match dtype {
            DType::F32 => Some(Self::F32),
            DType::F16 if native_f16 => Some(Self::F16),
            DType::F16 => Some(Self::F16Packed),
            DType::Bf16 => Some(Self::Bf16),
            _ => None,
        }
    }

    /// Its name in implementation ids.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::F16Packed => "f16-packed",
            Self::Bf16 => "bf16-shift",
            Self::I32 => "i32",
            Self::Words => "words",
        }
    }

    const fn template(self) -> &'static str {
        match self {
            Self::F32 => include_str!("../shaders/element_f32.wgsl"),
            Self::F16 => include_str!("../shaders/element_f16.wgsl"),
            Self::F16Packed => include_str!("../shaders/element_f16_packed.wgsl"),
            Self::Bf16 => include_str!("../shaders/element_bf16.wgsl"),
            Self::I32 => include_str!("../shaders/element_i32.wgsl"),
            Self::Words => include_str!("../shaders/element_words.wgsl"),
        }
    }
}

/// A shader to be written out.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Its name in messages.
    pub name: &'static str,
    /// The templates it is made of.
    pub templates: &'static [&'static str],
    /// The type of its inputs, where it has one.
    pub input: Option<Element>,
    /// The type of its output.
    pub output: Option<Element>,
    /// Its constants.
    pub values: Values,
}

impl Shader {
    /// The WGSL.
    ///
    /// # Errors
    /// A template that can't be written out, with its line.
    pub fn wgsl(&self) -> Result<String, String> {
        let elements = [(self.input, "In"), (self.output, "Out")];
        let native = elements.iter().any(|(element, _)| *element == Some(Element::F16));
        let mut text =
            String::from(if native || self.values.get("HALF").is_some() { "enable f16;\n" } else { "" });
        if self.values.get("COOPERATIVE").is_some() {
            text.push_str("enable wgpu_cooperative_matrix;\n");
        }
        text.push_str(&self.values.declarations());
        for (element, name) in elements {
            text.push_str(
                &element.map(|element| element.template().replace("${NAME}", name)).unwrap_or_default(),
            );
        }
        for template in self.templates {
            text.push_str(
                &expand(template, &self.values).map_err(|fault| format!("{}: {fault}", self.name))?,
            );
        }
        Ok(text)
    }
}
