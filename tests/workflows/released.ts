import type { Settings } from '../../domain/settings';
import { exampleFleet, exampleSource } from '../setup/examples';
import type { VirtualWorld } from './world';

/** Brings the jobs of an example, applies its pipeline and releases a version; returns the pipeline's name. */
export async function released(
  world: VirtualWorld,
  file: string,
  artifact: string,
  version: string,
  settings: Partial<Settings> = {},
): Promise<string> {
  for (const job of exampleFleet(file)) await world.control('POST', '/control/jobs', job);
  const source = { ...exampleSource(file), owners: ['user:alice'] };
  await world.apply(source, settings);
  await world.start(source.pipeline, { artifacts: [{ name: artifact, kind: artifact, version, metadata: {} }] });
  return source.pipeline;
}
