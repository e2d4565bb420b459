//! Names, fused and apart.

use crate::GateHalf;
use alloc::string::String;
use alloc::vec::Vec;

/// What the layers are called, and in which order two of them are one.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) gate: String,
    pub(super) up: String,
    pub(super) down: String,
    pub(super) first: GateHalf,
}

/// Where in the model a walk is, as far as whom it is for has not been told yet: the layer of gates and
/// values, and what is in it.
pub(super) struct Place<'a> {
    names: &'a Names,
    /// Names, and the types that they are fields of.
    held: Vec<[String; 2]>,
}

impl<'a> Place<'a> {
    /// How `#[derive(Module)]` names the type that the layers are fields of.
    const BLOCK: &'static str = "Struct:GatedFeedForward";

    pub(super) fn new(names: &'a Names) -> Self {
        Self { names, held: Vec::new() }
    }

    /// The name to go on with, unless that is to be decided further in or there is none.
    pub(super) fn entered<'b>(&'b mut self, name: &'b str, container: &str) -> Option<&'b str> {
        if self.held.is_empty() && (name, container) != ("gate_up", Self::BLOCK) {
            return self.renamed(name, container);
        }
        self.held.push([name, container].map(String::from));
        None
    }

    /// As [`entered`](Self::entered), on the way out.
    pub(super) fn left<'b>(&'b mut self, name: &'b str, container: &str) -> Option<&'b str> {
        match self.held.pop() {
            Some(_) => None,
            None => self.renamed(name, container),
        }
    }

    /// Its name where nothing is fused, unless it stands for all that it is part of.
    fn renamed<'b>(&'b self, name: &'b str, container: &str) -> Option<&'b str> {
        match (name, container) {
            ("down", Self::BLOCK) => Some(&self.names.down),
            ("linear", "Struct:HiddenLayer")
            | ("learnable" | "prelu", "Struct:ActivationLayer") => None,
            _ => Some(name),
        }
    }

    /// The two layers that the parameter here belongs to, the one with the first half of it in front.
    pub(super) fn halves(&self) -> Option<[&'a str; 2]> {
        // The layer and its parameter; what is deeper was attached to that.
        let (gate, up) = (self.names.gate.as_str(), self.names.up.as_str());
        (self.held.len() == 2).then_some(match self.names.first {
            GateHalf::First => [gate, up],
            GateHalf::Last => [up, gate],
        })
    }

    /// What has not been told, with the layer called `layer` if that is given.
    pub(super) fn path(&self, layer: Option<&str>) -> Vec<[String; 2]> {
        let mut path = self.held.clone();
        if let (Some(layer), Some([name, _])) = (layer, path.first_mut()) {
            *name = layer.into();
        }
        path
    }
}
