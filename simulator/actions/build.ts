import type { Hono } from 'hono';
import type { Artifact } from '../../domain/artifact';
import { behaviourAt, type BehaviourSpec } from '../metrics/behaviour';
import type { Simulation } from '../simulation';
import { runService, outputNames, type RunOutcome, type StartRun } from './runs';
import { computeClosure, testOfTarget } from '../monorepo/targets';

/**
 * The build service. From source version `12` and `with: { target: //kv:server }` it makes the executable `kv:12`,
 * under each name that the action declares. Without a target the package has the pipeline's name. A build with a
 * profile makes `kv:12-fdo`, optimised from that profile. The service runs the unit tests of the target and of all its
 * dependencies. It fails if `failBuild` or `failTests` is set in the behaviour of the source version, or of one of
 * these targets at that version (`//kv/log@12`).
 */
export const buildService = (simulation: Simulation): Hono =>
  runService(simulation, 'build', (request) => {
    const source = request.inputs.find(({ kind }) => kind === 'source') ?? request.inputs[0];
    if (source === undefined)
      return { outputs: [], failure: 'there is nothing to build from: the action has no inputs' };
    const profile = request.inputs.find(({ kind }) => kind === 'profile');
    const version = `${packageOfTarget(request)}:${source.version}${profile === undefined ? '' : '-fdo'}`;
    const outputs = outputNames(request, ['executable']).map((name) =>
      executable(request, source, name, version, profile),
    );
    return { outputs, ...runBuild(simulation, request, source.version, version) };
  });

function runBuild(
  simulation: Simulation,
  request: StartRun,
  revision: string,
  version: string,
): Omit<RunOutcome, 'outputs'> {
  const acts = (name: string): BehaviourSpec => behaviourAt(simulation.state.behaviours, name, simulation.world.now);
  const { target } = request.with;
  const root = typeof target === 'string' ? target : `//${request.pipeline}`;
  const targets = computeClosure(simulation.state.targets, root);
  const steps = [
    `resolving ${root}`,
    `compiling ${countText(targets, 'target')}`,
    `running ${countText(targets, 'unit test')}`,
  ];
  const broken =
    acts(revision).failBuild || acts(version).failBuild
      ? root
      : targets.find((name) => acts(`${name}@${revision}`).failBuild);
  if (broken !== undefined) return { steps, failure: `${broken} does not compile at ${revision}` };
  const failing = acts(revision).failTests ? root : targets.find((name) => acts(`${name}@${revision}`).failTests);
  if (failing === undefined)
    return { steps, failure: null, said: `${version}: ${countText(targets, 'unit test')} passed` };
  const why = failing === root ? '' : `, which ${root} depends on`;
  return { steps, failure: `the unit test ${testOfTarget(failing)} failed at ${revision}${why}` };
}

const countText = (targets: readonly string[], what: string): string =>
  `${targets.length} ${what}${targets.length === 1 ? '' : 's'}`;

function executable(
  request: StartRun,
  source: Artifact,
  name: string,
  version: string,
  profile: Artifact | undefined,
): Artifact {
  const { target } = request.with;
  const builtFrom = {
    repository: source.builtFrom?.repository ?? source.metadata['repository'] ?? source.name,
    revision: source.version,
    ...(typeof target === 'string' ? { target } : {}),
  };
  const metadata: Record<string, string> = profile === undefined ? {} : { profile: profile.version };
  return { name, kind: 'executable', version, builtFrom, metadata };
}

/** `kv` from `//kv:server` and from `//storage/kv:server`. */
function packageOfTarget(request: StartRun): string {
  const { target } = request.with;
  const [, path] = (typeof target === 'string' && /^\/\/([^:]+)/.exec(target)) || [];
  return path?.split('/').at(-1) ?? request.pipeline;
}
