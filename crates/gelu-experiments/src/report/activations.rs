use crate::recipe::ACTIVATION;
use burn::tensor::{DType, Tensor, TensorData};
use gelu_compare::comparison::colour;
use gelu_compare::extension::Extension;
use gelu_compare::report::NamedFigure;
use gelu_compare::report::{Curve, Figure, Panel};
use gelu_compare::runs::Snapshot;
use gelu_compare::setting::Setting;
use gelu_core::Activation;
use gelu_core::functional::Unit;
use gelu_learner::activation::{Formula, NamedActivation};
use gelu_learner::device::DeviceName;

/// Name of the figure's file; with GELU, ReLU and ELU it corresponds to Figure 1 of the paper.
const NAME: &str = "figure-1";

/// The range in the paper, −4 to 3, in steps that include 0.
const START: f64 = -4.0;
const STEPS: usize = 280;
const STEP: f64 = 0.025;

/// The extension for comparisons of activations: a figure of the functions.
#[derive(Debug)]
pub struct Functions;

impl Extension for Functions {
    fn figures(&self, snapshot: &Snapshot) -> Vec<NamedFigure> {
        let named = |arm: &Setting| (arm.text(ACTIVATION), snapshot.position(arm));
        let named: Vec<(String, usize)> = snapshot.arms().iter().map(named).collect();
        figure(&named).map(|figure| (NAME.to_owned(), figure)).into_iter().collect()
    }
}

/// Returns a figure of the compared activations as functions: the stochastic map as its mean, a learnable one with
/// its initial values. `None` if this build knows none of them.
fn figure(names: &[(String, usize)]) -> Option<Figure> {
    let curves: Vec<Curve> = names
        .iter()
        .filter_map(|(name, position)| {
            let named = NamedActivation::read(name);
            Some(Curve {
                label: Some(named.label().into_owned()),
                colour: colour(*position),
                dashed: false,
                points: points(&named)?,
                band: Vec::new(),
            })
        })
        .collect();
    (!curves.is_empty()).then(|| Figure {
        title: "The activations".to_owned(),
        caption: caption(names),
        x_axis: "x".to_owned(),
        logarithmic: false,
        panels: vec![Panel { title: String::new(), y_axis: "f(x)".to_owned(), curves }],
    })
}

/// Returns the parameters of the paper's curves, and the user's formulas.
fn caption(names: &[(String, usize)]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (text, _) in names {
        match text.as_str() {
            "gelu" => parts.push("GELU with μ = 0, σ = 1".to_owned()),
            "elu" => parts.push("ELU with α = 1".to_owned()),
            _ => parts.extend(
                NamedActivation::read(text).formula().map(|_| text.replacen('=', " = ", 1)),
            ),
        }
    }
    parts.join("; ")
}

fn points(named: &NamedActivation) -> Option<Vec<(f64, f64)>> {
    let x: Vec<f64> = (0..=STEPS).map(|i| START + STEP * i as f64).collect();
    let y = values(named, &x)?;
    Some(x.into_iter().zip(y).collect())
}

/// Returns the values of the activation at `x`. Opens a device if only a tensor can compute them.
fn values(named: &NamedActivation, x: &[f64]) -> Option<Vec<f64>> {
    let all = |function: &dyn Fn(f64) -> f64| Some(x.iter().map(|&x| function(x)).collect());
    if let Some(formula) = named.formula() {
        let formula = Formula::parse(formula).ok()?;
        return all(&|x| formula.at(x));
    }
    let activation = named.activation().ok().filter(|_| !named.is_gate())?;
    let unit = match activation {
        Activation::Soi | Activation::LearnableGelu => Some(Unit::Gelu),
        _ => activation.unit(),
    };
    if let Some(unit) = unit {
        return all(&|x| unit.value(x));
    }
    let device = DeviceName::default_device().ok()?.open();
    let y = activation.forward(Tensor::<1>::from_data(TensorData::from(x), (&device, DType::F32)));
    Some(y.into_data().iter::<f64>().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_the_functions() {
        let figure = figure(&["gelu", "relu"].map(|name| (name.to_owned(), 0))).unwrap();
        let curves = &figure.panels[0].curves;
        assert_eq!(
            curves.iter().map(|c| c.label.clone().unwrap()).collect::<Vec<_>>(),
            ["GELU", "ReLU"]
        );
        let at = |curve: &Curve, x: f64| curve.points.iter().find(|point| point.0 == x).unwrap().1;
        assert!((at(&curves[0], -1.0) + 0.158_655_25).abs() < 1e-7);
        assert_eq!(
            (at(&curves[1], -1.0), at(&curves[1], 3.0), at(&curves[0], 0.0)),
            (0.0, 3.0, 0.0)
        );
    }

    #[test]
    fn a_formula_is_drawn_and_written_out() {
        let figure = figure(&["gelu", "mine=x*x"].map(|name| (name.to_owned(), 0))).unwrap();
        assert_eq!(figure.caption, "GELU with μ = 0, σ = 1; mine = x*x");
        let mine = &figure.panels[0].curves[1];
        assert_eq!(mine.label.as_deref(), Some("mine"));
        assert!(mine.points.contains(&(-4.0, 16.0)) && mine.points.contains(&(3.0, 9.0)));
    }

    #[test]
    fn an_activation_of_another_build_is_left_out() {
        assert_eq!(figure(&[("unheard-of".to_owned(), 0)]), None);
    }
}
