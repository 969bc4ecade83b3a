import type { ConveyorClient } from '../client/api';
import { ConveyorError } from '../domain/errors';
import { parseId } from '../domain/ids';
import type { Io } from './io';
import type { Output } from './output';
import { deployTable, pipelineTable, releaseTable } from './render/lists';
import type { View } from './render/paint';

/** So many rows help at night. */
const SHOWN = 10;
const LIMIT = 200;

/**
 * Where no worker answers, people are shown what workflows left in Temporal's visibility when they were last at work, before the error
 * is thrown on. Programs get the error alone.
 */
export async function orLastKnown<T>(
  { io, output, client }: { readonly io: Io; readonly output: Output; readonly client: ConveyorClient },
  id: string,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (output.human && error instanceof ConveyorError && error.code === 'no-worker')
      io.stdout.write(await lastKnown(client, id, output).catch(() => ''));
    throw error;
  }
}

async function lastKnown(client: ConveyorClient, text: string, output: Output): Promise<string> {
  const id = parseId(text);
  if (id === undefined) return '';
  const { pipeline } = id;
  const release = 'number' in id ? `${pipeline}/${id.number}` : undefined;
  const isMeant = (known: { readonly id: string }): boolean =>
    release === undefined || known.id === release || known.id.startsWith(`${release}/`);
  const query = { pipeline, limit: LIMIT };
  const [pipelines, releases, deploys] = await Promise.all([
    client.listPipelines(query),
    client.listReleases(query),
    client.listDeploys(query),
  ]);
  const view = output.view();
  // What is too old for the lists is not said to be missing.
  const shown = <T>(rows: readonly T[], table: (rows: readonly T[], view: View) => string): string[] =>
    rows.length === 0 ? [] : [table(rows.slice(0, SHOWN), view)];
  const tables = [
    ...shown(release === undefined ? pipelines : [], pipelineTable),
    ...shown(releases.filter(isMeant), releaseTable),
    ...shown(deploys.filter(isMeant), deployTable),
  ];
  return tables.length === 0
    ? ''
    : `${['No worker answers. What the Temporal server knows of before:', ...tables].join('\n\n')}\n\n`;
}
