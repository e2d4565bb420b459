use super::member::{Joined, Member};
use super::{Beginner, Cohort};
use crate::{Error, Result, Training};
use burn::tensor::Device;
use burn::train::InferenceStep;
use gelu_compare::runs::{RunStatus, Spec};
use gelu_training::Adam;
use gelu_training::cohort::{AdamMoments, CohortAdam, clip_by_slice_norm};
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

/// Runs that train as one program.
pub(super) struct Together<S, C: Cohort> {
    members: Vec<Member<S, C::Network>>,
    cohort: C,
    optimizer: CohortAdam,
    adam: Adam,
    /// Epochs that all have.
    done: usize,
}

impl<S: Spec, C: Cohort> Together<S, C> {
    /// Those that can begin; the others have ended then. `None` where there is none.
    pub(super) fn of(
        beginners: Vec<Beginner<S>>,
        device: &Device,
        adam: Adam,
        training: impl Fn(usize, usize) -> Result<Training<C::Network>>,
    ) -> Result<Option<Self>> {
        let mut joined: Vec<Joined<S, C::Network>> = Vec::new();
        let mut of_all = None;
        for beginner in &beginners {
            let (index, session, checkpoint) = beginner;
            let done = checkpoint.as_ref().map_or(0, |found| found.epoch);
            if done != *of_all.get_or_insert(done) {
                session.end(Ok(RunStatus::Interrupted));
                continue;
            }
            let member = Member::join(beginner, device, |done| training(*index, done));
            let fits = |found: Option<Joined<S, C::Network>>| {
                if let (Some((first, ..)), Some((member, ..))) = (joined.first(), &found) {
                    member.steps_as(first)?;
                }
                Ok(found)
            };
            match member.and_then(fits) {
                Ok(found) => joined.extend(found),
                Err(error) => session.end(Err(error)),
            }
        }
        match joined.is_empty() {
            true => Ok(None),
            false => Self::put_together(joined, adam, of_all.unwrap_or(0)).map(Some),
        }
    }

    fn put_together(joined: Vec<Joined<S, C::Network>>, adam: Adam, done: usize) -> Result<Self> {
        let (mut members, mut networks, mut times) = (Vec::new(), Vec::new(), Vec::new());
        let mut moments = [Vec::new(), Vec::new()];
        for (member, network, AdamMoments { time, moments: [first, second] }) in joined {
            members.push(member);
            networks.push(network);
            times.push(time);
            moments[0].push(first);
            moments[1].push(second);
        }
        let cohort = C::of(&networks)?;
        let [first, second] = [C::of(&moments[0])?, C::of(&moments[1])?];
        let optimizer = CohortAdam::resumed(adam.clone(), times, &cohort, [&first, &second]);
        Ok(Self { members, cohort, optimizer, adam, done })
    }

    /// Trains all to their ends; how they ended, their sessions know.
    pub(super) fn train(self) -> Result<()> {
        let mut together = Some(self);
        while let Some(mut all) = together.take() {
            all.epoch(all.done + 1)?;
            together = all.end_epoch()?;
        }
        Ok(())
    }

    /// One pass over the training batches of each run.
    fn epoch(&mut self, epoch: usize) -> Result<()> {
        let Self { members, cohort, optimizer, .. } = self;
        let loaders: Vec<_> = members.iter().map(Member::batches).collect();
        let mut passes = Vec::with_capacity(loaders.len());
        let mut next: Vec<Option<Input<C>>> = Vec::with_capacity(loaders.len());
        for (index, (member, loader)) in members.iter_mut().zip(&loaders).enumerate() {
            member.begin(epoch);
            let mut pass = loader.iter();
            next.push(pass.next().transpose().map_err(unreadable)?);
            let progress = pass.progress();
            let steps = progress.items_total.div_ceil(progress.items_processed.max(1));
            member.draw(steps * cohort.draws(index));
            passes.push(pass);
        }
        loop {
            let batches: Vec<_> = next.drain(..).flatten().collect();
            match batches.len() {
                0 => return Ok(()),
                count if count == members.len() => {}
                _ => {
                    return Err(Error::Failed(
                        "the runs of a cohort have other batches".to_owned(),
                    ));
                }
            }
            let (gradients, outputs) =
                cohort.train_step(batches, |index| members[index].next_draw())?;
            let gradients = match members[0].clip_norm() {
                Some(largest) => clip_by_slice_norm(gradients, cohort, largest),
                None => gradients,
            };
            let rates = members.iter_mut().map(Member::next_rate).collect::<Result<Vec<_>>>()?;
            *cohort = optimizer.step(&rates, cohort.clone(), gradients);
            for ((member, output), pass) in members.iter_mut().zip(&outputs).zip(&passes) {
                member.push(output, pass.progress().items_processed)?;
            }
            // A run whose lease is lost ends after the epoch, lest the others lose theirs.
            if members[0].session().control.wants_stop_now() {
                return Ok(());
            }
            for pass in &mut passes {
                next.push(pass.next().transpose().map_err(unreadable)?);
            }
        }
    }

    /// Measures and saves each network; returns those that go on.
    fn end_epoch(self) -> Result<Option<Self>> {
        let Self { members, cohort, optimizer, adam, done } = self;
        let (epoch, count) = (done + 1, members.len());
        let moments = optimizer.moments(&cohort);
        let of = |index: usize| AdamMoments {
            time: optimizer.times()[index],
            moments: moments.each_ref().map(|moments: &C| moments.network(index)),
        };
        let ended: Vec<_> = std::thread::scope(|scope| {
            // A run is saved while the next one is measured, because it waits for the disk most of that time.
            let end = |(index, mut member): (usize, Member<S, C::Network>)| {
                let measured = member.measure(epoch, cohort.network(index), of(index));
                let session = member.session().clone();
                let save = move || match measured? {
                    ControlFlow::Continue(unsaved) => unsaved.save(&session),
                    ControlFlow::Break(status) => Ok(Some(status)),
                };
                (member, scope.spawn(save))
            };
            let threads: Vec<_> = members.into_iter().enumerate().map(end).collect();
            let join = |(member, thread): (_, ScopedJoinHandle<'_, _>)| {
                (member, thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            };
            threads.into_iter().map(join).collect()
        });
        let mut left = Vec::with_capacity(count);
        for (index, (member, ended)) in ended.into_iter().enumerate() {
            match ended {
                Ok(None) => left.push((index, member)),
                Ok(Some(status)) => member.session().end(Ok(status)),
                Err(error) => member.session().end(Err(error)),
            }
        }
        if left.len() == count {
            let members = left.into_iter().map(|(_, member)| member).collect();
            return Ok(Some(Self { members, cohort, optimizer, adam, done: epoch }));
        }
        if left.is_empty() {
            return Ok(None);
        }
        let joined = left.into_iter().map(|(i, member)| (member, cohort.network(i), of(i)));
        Self::put_together(joined.collect(), adam, epoch).map(Some)
    }
}

type Input<C> = <<C as Cohort>::Network as InferenceStep>::Input;

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::Failed(error.to_string())
}
