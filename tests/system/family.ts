import { randomBytes } from 'node:crypto';
import type { ConveyorClient } from '../../client';
import { createPipelineIndex } from '../../client/pipelineIndex';
import { workflowIds } from '../../domain/ids';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { ChildrenView, HistoryRow } from '../../domain/views';
import { OWNER, type Stack } from './stack';
import { eventually } from './waiting';

type Children = NonNullable<PipelineSource['children']>;

/** Much more than needed, for busy machines. */
const PATIENT_MS = 150_000;

/** A parent and its children: each takes the executable and builds an image of it; two are of low importance. */
export class Family {
  readonly children: readonly string[];

  constructor(
    readonly stack: Stack,
    size: number,
    readonly parent = `inference-${randomBytes(4).toString('hex')}`,
  ) {
    this.children = Array.from({ length: size }, (_, index) => `${this.parent}-model-${index + 1}`);
  }

  /** Applies all of them, as a client of Conveyor does, and waits until visibility knows the children. */
  async settle(children: Partial<Children>): Promise<void> {
    const labels = { parent: this.parent };
    const { client } = this.stack;
    await each(this.children, (name) => {
      const importance = this.children.indexOf(name) < 2 ? 'low' : 'high';
      return apply(client, { ...BUILDS, pipeline: name, labels: { ...labels, importance } });
    });
    await apply(client, {
      ...BUILDS,
      pipeline: this.parent,
      children: { pipelines: { label: labels }, artifacts: ['executable'], ...children },
    });
    const index = createPipelineIndex(this.stack.temporal);
    await eventually('visibility lists every child', async () => {
      let known = 0;
      for await (const _ of index.labelled(labels)) known += 1;
      return known === this.children.length;
    });
  }

  async release(version: string): Promise<void> {
    const artifact = { name: 'executable', kind: 'executable', version, metadata: {} };
    await this.stack.client.release(this.parent, [artifact], { kind: 'manual', actor: OWNER, key: null });
  }

  view(): Promise<ChildrenView> {
    return this.stack.temporal.workflow.getHandle(this.fanOut).query('status');
  }

  get fanOut(): string {
    return workflowIds.children(this.parent, 1);
  }

  async reaches(what: string, holds: (view: ChildrenView) => boolean): Promise<ChildrenView> {
    const look = async () => {
      const view = await this.view();
      return holds(view) && view;
    };
    return eventually(`the children of ${this.parent} ${what}`, look, PATIENT_MS);
  }

  ended(): Promise<ChildrenView> {
    return this.reaches('ended', ({ state }) => state === 'succeeded' || state === 'failed' || state === 'cancelled');
  }

  /** The releases of every child, from its own pipeline. */
  histories(): Promise<HistoryRow[][]> {
    return each(this.children, (name) => this.stack.client.history(name));
  }
}

const apply = (client: ConveyorClient, source: PipelineSource): Promise<unknown> =>
  client.apply(pipelineSchema.parse(source), OWNER);

const BUILDS = {
  owners: [OWNER],
  artifacts: { executable: { finder: 'manual' } },
  actions: { build: { type: 'build', inputs: ['executable'], outputs: ['image'] } },
} satisfies Partial<PipelineSource>;

/** Twenty at a time: a Temporal server on two cores handles no more. */
async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += 20)
    done.push(...(await Promise.all(items.slice(at, at + 20).map((item) => work(item)))));
  return done;
}
