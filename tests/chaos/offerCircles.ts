import { requireNoOfferCycle } from '../../client/offerCycles';
import { ConveyorError } from '../../domain/errors';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { VirtualWorld } from '../workflows/world';

/** The circle for which `conveyor apply` refuses a file: `a/deploy → b/deploy → a/deploy`; null if it notes that it has not asked all pipelines. */
export async function findCircle(world: VirtualWorld, source: PipelineSource): Promise<string | undefined | null> {
  try {
    const notes = await requireNoOfferCycle(world.workflows(), pipelineSchema.parse(source));
    return notes.some((note) => note.startsWith('not all pipelines')) ? null : undefined;
  } catch (error) {
    if (error instanceof ConveyorError && error.code === 'offers-cycle')
      return error.message.split('wait for each other: ')[1];
    throw error;
  }
}

type Files = ReadonlyMap<string, PipelineSource>;

/** Whether files are refused for a circle exactly if there is one, and for a real one; undefined if so. */
export function findWrongCircle(files: Files, pipeline: string, circle: string | undefined): string | undefined {
  const isCircular = reaches(files, pipeline);
  if (circle === undefined) return isCircular ? `${pipeline} is applied, and deploys wait for each other` : undefined;
  const nodes = circle.split(' → ');
  const isReal = nodes.slice(1).every((next, at) => listAwaited(files, nodes[at] ?? '').includes(next));
  return isReal && nodes.length > 1 && nodes[0] === nodes.at(-1)
    ? undefined
    : `${pipeline} is refused for ${circle}, which is no circle`;
}

/** Whether an action of a pipeline waits for a circle: takes away actions that wait for none of the others, until none or a circle is left. */
function reaches(files: Files, pipeline: string): boolean {
  const seen = new Set<string>();
  const visit = (node: string): void => {
    if (seen.has(node)) return;
    seen.add(node);
    listAwaited(files, node).forEach(visit);
  };
  for (const action of Object.keys(files.get(pipeline)?.actions ?? {})) visit(`${pipeline}/${action}`);
  for (let left = [...seen]; ;) {
    const next = left.filter((node) => listAwaited(files, node).some((other) => left.includes(other)));
    if (next.length === left.length) return next.length > 0;
    left = next;
  }
}

/** The actions that an action waits for, as the files say it. */
function listAwaited(files: Files, node: string): string[] {
  const [pipeline = '', name = ''] = node.split('/');
  const file = files.get(pipeline);
  const action = file?.actions[name];
  if (file === undefined || action === undefined) return [];
  const isDeploy = action.type === 'deploy';
  const wished = (file.wishes ?? []).filter((wish) => isDeploy && (wish.for?.includes(name) ?? true));
  const taken = (action.inputs ?? []).flatMap((input) => {
    const { finder, with: wanted = {} } = (file.artifacts ?? {})[input] ?? {};
    return finder === 'offer' ? [{ from: String(wanted['pipeline']), offer: String(wanted['offer']) }] : [];
  });
  const makers = [...wished, ...taken].flatMap(({ from, offer }) => {
    const made = files.get(from)?.offers?.find((one) => one.name === offer);
    return made ? [`${from}/${made.after ?? 'deploy'}`] : [];
  });
  return [...(action.needs ?? []).map((need) => `${pipeline}/${need}`), ...makers];
}
