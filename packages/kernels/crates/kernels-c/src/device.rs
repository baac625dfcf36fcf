use std::rc::Rc;

use kernels_core::{Device, DeviceInfo, ImplId, Inputs, KernelError, KernelSpec, Prepared, Support};

use crate::{
    gpu::{Gpu, caught},
    plan::{MEMCPY, candidates, plan},
    prepared::{OnGpu, Recipe},
};

/// An open GPU.
pub struct GpuDevice<G> {
    info: DeviceInfo,
    gpu: Rc<G>,
}

impl<G: Gpu> GpuDevice<G> {
    /// A GPU that a backend has opened.
    pub fn new(info: DeviceInfo, gpu: G) -> Self {
        Self { info, gpu: Rc::new(gpu) }
    }

    fn recipe(&self, spec: &KernelSpec, name: &str, span: Option<u32>) -> Result<Recipe, String> {
        if !candidates(spec, G::PRODUCT).contains(&name) {
            return Err("this backend has no such implementation".to_owned());
        }
        if let Some(reason) = self.gpu.obstacle(spec, name) {
            return Err(reason);
        }
        Ok(match name {
            MEMCPY => Recipe::Memcpy,
            product if product == G::PRODUCT => Recipe::Product,
            own => Recipe::Own(plan(spec, own, span)?),
        })
    }
}

impl<G: Gpu + 'static> Device for GpuDevice<G> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn support(&self, spec: &KernelSpec) -> Support {
        let mut impls = Vec::new();
        let mut reasons = Vec::new();
        for name in candidates(spec, G::PRODUCT) {
            match self.recipe(spec, name, None) {
                Ok(_) => impls.push(ImplId::new(G::BACKEND, name)),
                Err(reason) => reasons.push(reason),
            }
        }
        reasons.dedup();
        if impls.is_empty() { Support::no(reasons.join("; ")) } else { Support::Yes { impls } }
    }

    fn prepare(
        &self,
        spec: &KernelSpec,
        inputs: &Inputs,
        rotate: usize,
        implementation: &ImplId,
    ) -> Result<Box<dyn Prepared>, KernelError> {
        caught("prepare", || {
            self.gpu.enter()?;
            let span = implementation.details.get("span").and_then(|span| span.parse().ok());
            let recipe = if implementation.backend == G::BACKEND {
                self.recipe(spec, &implementation.name, span)
            } else {
                Err("this backend has no such implementation".to_owned())
            };
            let recipe = recipe.map_err(|reason| KernelError::Unsupported {
                what: format!("{implementation} for {spec}"),
                reason,
            })?;
            let details = self.gpu.details(matches!(recipe, Recipe::Own(_)));
            let id = details
                .into_iter()
                .fold(ImplId::new(G::BACKEND, &implementation.name), |id, (key, value)| id.with(key, value));
            let prepared = OnGpu::new(Rc::clone(&self.gpu), (spec, inputs, rotate), recipe, id)?;
            Ok(Box::new(prepared) as Box<dyn Prepared>)
        })
    }
}
