import type { Hono } from 'hono';
import type { Artifact } from '../../domain/artifact';
import { behaviourAt } from '../metrics/behaviour';
import type { Simulation } from '../simulation';
import { actionService, outputNames, type StartRun } from './runs';

/**
 * The build service. From source version `12` and `with: { target: //kv:server }` it makes the executable `kv:12`, under
 * each name that the action declares. Without a target the package is the pipeline's name. A version whose behaviour
 * says `failBuild` does not build.
 */
export const buildService = (simulation: Simulation): Hono =>
  actionService(simulation, 'build', (request) => {
    const source = request.inputs.find(({ kind }) => kind === 'source') ?? request.inputs[0];
    if (source === undefined)
      return { outputs: [], failure: 'there is nothing to build from: the action has no inputs' };
    const version = `${packageOf(request)}:${source.version}`;
    const outputs = outputNames(request, ['executable']).map((name) => executable(request, source, name, version));
    const fails = [source.version, version].some(
      (each) => behaviourAt(simulation.state.behaviours, each, simulation.world.now).failBuild,
    );
    return {
      outputs,
      failure: fails ? `${String(request.with['target'] ?? version)} does not compile at ${source.version}` : null,
    };
  });

function executable(request: StartRun, source: Artifact, name: string, version: string): Artifact {
  const { target } = request.with;
  const builtFrom = {
    repository: source.builtFrom?.repository ?? source.metadata['repository'] ?? source.name,
    revision: source.version,
    ...(typeof target === 'string' ? { target } : {}),
  };
  return { name, kind: 'executable', version, builtFrom, metadata: {} };
}

/** `kv` of `//kv:server` and of `//storage/kv:server`. */
function packageOf(request: StartRun): string {
  const { target } = request.with;
  const [, path] = (typeof target === 'string' && /^\/\/([^:]+)/.exec(target)) || [];
  return path?.split('/').at(-1) ?? request.pipeline;
}
