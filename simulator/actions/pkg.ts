import type { Hono } from 'hono';
import { ExtensionError } from '../../sdk/server';
import type { Simulation } from '../simulation';
import { runService, outputNames } from './runs';

/**
 * The packager: stores its inputs in the artifact store, under `with: { tag }` if given. It outputs each of them as a
 * package under the names that the action declares, in order.
 */
export const pkgService = (simulation: Simulation): Hono =>
  runService(simulation, 'pkg', (request) => {
    const { tag } = request.with;
    if (tag !== undefined && (typeof tag !== 'string' || tag === ''))
      throw new ExtensionError('invalid-request', 'with.tag: expected a name such as live');
    const names = outputNames(request, []);
    const packages = request.inputs.map((input, index) => ({
      ...input,
      name: names[index] ?? input.name,
      kind: 'package',
    }));
    const missing = names.length - request.inputs.length;
    const failure = missing > 0 ? `there are ${missing} more outputs than inputs to package` : null;
    const marked = tag === undefined ? '' : `, tagged ${tag}`;
    const said = `stored ${packages.map(({ name, version }) => `${name} ${version}`).join(', ')}${marked}`;
    return { outputs: packages, failure, said, ...(tag === undefined ? {} : { tag }) };
  });
