import { emergencySpec, followOnSpec, rollbackSpec, undeploySpec, type ReleaseInput } from '../release/state';
import type { PipelineSpec } from '../spec/pipeline';
import { badOutputs } from './knownBad';
import { lastRanOn } from './recordOutcome';
import { inFull } from './recordLimits';
import { toPolicy } from './refusal';
import { isLeftAlone, lastOwn } from './replacement';
import { findRestoredDeploys } from './rollback';
import { goesBackTo, hasOffered, type ActiveRelease, type PipelineState } from './state';

/** The input of a release that its pipeline starts. */
export function buildReleaseInput(state: PipelineState, release: ActiveRelease): ReleaseInput {
  const { number, artifacts, trigger, reportTo, emergency, followOn, rerunOf, place } = release;
  const lastGood = Object.entries(state.good).flatMap(([action, good]) => {
    const version = goesBackTo(state, good.at(-1));
    return version === null ? [] : [[action, version] as const];
  });
  return {
    number,
    spec: pickReleaseSpec(state, release),
    artifacts: inFull(state, artifacts),
    previous: lastRanOn(state),
    trigger,
    lastGood: Object.fromEntries(lastGood),
    policy: toPolicy(state),
    settings: state.settings,
    ...(state.frozen ? { frozen: state.frozen } : {}),
    ...(reportTo === undefined ? {} : { reportTo }),
    ...(emergency === undefined ? {} : { emergency }),
    ...(followOn === undefined ? {} : { followOn }),
    ...badOutputs(state),
    ...(hasOffered(state) ? { offered: true } : {}),
    ...(trigger.kind === 'rollback' ? { restores: findRestoredDeploys(state, artifacts) } : {}),
    ...(trigger.kind === 'undeploy' ? { restores: listKnownUnits(state) } : {}),
    ...(rerunOf === undefined ? {} : { rerunOf }),
    ...(place === undefined ? {} : { place }),
  };
}

/** The units of each deploy action that its last deploy held, so that an undeploy misses those that are not listed. */
const listKnownUnits = ({ good }: PipelineState): NonNullable<ReleaseInput['restores']> =>
  Object.fromEntries(
    Object.entries(good).flatMap(([action, deploys]) => {
      const held = lastOwn(deploys)?.held;
      return held === undefined ? [] : [[action, { held }] as const];
    }),
  );

function pickReleaseSpec(state: PipelineState, release: ActiveRelease): PipelineSpec {
  const { trigger, emergency, followOn } = release;
  if (followOn) return followOnSpec(state.spec, followOn.action);
  if (emergency) return emergencySpec(state.spec, emergency.action);
  if (trigger.kind === 'undeploy') return undeploySpec(state.spec, release.deployed ?? []);
  return trigger.kind === 'rollback' ? rollbackSpec(state.spec, inProduction(state, release)) : state.spec;
}

/**
 * The actions of a rollback: those that deployed a good version. An action that never succeeded, or whose version another pipeline has replaced
 * since, is left out.
 */
const inProduction = ({ good }: PipelineState, { artifacts, trigger: { of = 0 } }: ActiveRelease): string[] =>
  Object.entries(good).flatMap(([action, deploys]) =>
    deploys.length > 0 && !isLeftAlone(deploys, artifacts, of) ? [action] : [],
  );
