import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { parse, stringify } from 'yaml';
import type { PipelineSource } from '../domain/spec/pipeline';
import type { serveActionService } from '../sdk';
import { OWNER } from './services';

/** Shared by the benchmarks of actions: pipelines of custom actions, and the service that runs them. */

/** A chain of this many actions, each a run of the action service. */
export function chainOf(pipeline: string, actions: number): PipelineSource {
  const names = Array.from({ length: actions }, (_, nth) => `run-${nth}`);
  const chained = names.map((name, nth) => [
    name,
    { type: 'custom' as const, needs: names.slice(Math.max(0, nth - 1), nth), with: { service: CHAIN_SERVICE } },
  ]);
  return { pipeline, owners: [OWNER], actions: Object.fromEntries(chained) as PipelineSource['actions'] };
}

const CHAIN_SERVICE = 'chain';

/** Starts an action service on a free port. Resolves to its address. */
export const listenAnywhere = (app: ReturnType<typeof serveActionService>): Promise<string> =>
  new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0 }, ({ port }: AddressInfo) => resolve(`http://127.0.0.1:${port}`));
  });

/** The configuration of this checkout with that service, as a file. */
export const configWith = (url: string): string => configOf({ name: CHAIN_SERVICE, kind: 'action-service', url });

/** … with one more extension, which replaces one of the same name. */
export function configOf(extension: { readonly name: string; readonly kind: string; readonly url: string }): string {
  const config = parse(readFileSync(join(__dirname, '../conveyor.config.yaml'), 'utf8')) as {
    extensions: { name: string }[];
  };
  const file = join(mkdtempSync(join(tmpdir(), 'conveyor-bench-')), 'conveyor.config.yaml');
  const extensions = [...config.extensions.filter(({ name }) => name !== extension.name), extension];
  writeFileSync(file, stringify({ ...config, extensions }));
  return file;
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;

export const medianAndSpan = (values: readonly number[]): string =>
  `${median(values).toFixed(1)} ms (${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)})`;
