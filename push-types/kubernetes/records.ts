import { createHash } from 'node:crypto';
import { z } from 'zod';
import { writeLabelValue } from './images';

/** The memory of the push type on the objects themselves, in labels and annotations. */

export const VERSION_LABEL = 'conveyor.dev/version';
/** A hash of the update: with the pod's name it identifies a task in metrics. */
export const UPDATE_LABEL = 'conveyor.dev/update';
/** On pods: PodRecord. */
export const POD_RECORD = 'conveyor.dev/task';
/** On workloads: UnitRecord. */
export const UNIT_RECORD = 'conveyor.dev/unit';
/** On workloads while their template changes: MoveIntent. */
export const MOVE_INTENT = 'conveyor.dev/completion';
/** On workloads while pods are replaced: Replacement. */
export const REPLACEMENT = 'conveyor.dev/replacement';
/** On workloads whose template has changed with more than its image: SavedTemplate. */
export const SAVED_TEMPLATE = 'conveyor.dev/before';
/** On workloads: the name of the Conveyor that changes it. */
export const UNIT_OWNER = 'conveyor.dev/owner';
/** A condition of pods that want to be taken out of service before they change. */
export const SERVING_GATE = 'conveyor.dev/serving';

const podRecordSchema = z.object({
  update: z.string(),
  version: z.string(),
  image: z.string(),
  /** The updates that it takes back. */
  updatedBy: z.array(z.string()).default([]),
  /** How many pods the update meant. */
  of: z.number().int(),
  /** Whether the update is of the whole unit. */
  whole: z.boolean(),
  /** The container as it was before the patch. */
  before: z.object({
    image: z.string(),
    imageID: z.string(),
    containerID: z.string(),
    restarts: z.number().int(),
    waiting: z.string(),
  }),
});
export type PodRecord = z.output<typeof podRecordSchema>;

const unitRecordSchema = z.object({ version: z.string(), update: z.string().nullable(), image: z.string() });
/** The version on which new pods of a workload start, as long as its template has this image. */
export type UnitRecord = z.output<typeof unitRecordSchema>;

const intentSchema = unitRecordSchema.extend({
  /** The strategy of the workload that is put back at the end; null for a Deployment. */
  strategy: z.record(z.string(), z.unknown()).nullable(),
});
/** A change of a template that was begun. */
export type MoveIntent = z.output<typeof intentSchema>;

const replacementSchema = unitRecordSchema.extend({
  /** Both null for a Deployment, whose own template and strategy stay. */
  strategy: z.record(z.string(), z.unknown()).nullable(),
  template: z.record(z.string(), z.unknown()).nullable(),
});
/** The controller of a workload makes pods of an update for a while; its own template and strategy are put back afterwards. */
export type Replacement = z.output<typeof replacementSchema>;

const savedTemplateSchema = z.object({
  version: z.string(),
  image: z.string(),
  template: z.record(z.string(), z.unknown()),
});
/** The template of the version before, for a revert. */
export type SavedTemplate = z.output<typeof savedTemplateSchema>;

type Annotations = Readonly<Record<string, string>>;

export const readPodRecord = (annotations: Annotations): PodRecord | undefined =>
  parseRecord(podRecordSchema, annotations[POD_RECORD]);
export const readUnitRecord = (annotations: Annotations): UnitRecord | undefined =>
  parseRecord(unitRecordSchema, annotations[UNIT_RECORD]);
export const readIntent = (annotations: Annotations): MoveIntent | undefined =>
  parseRecord(intentSchema, annotations[MOVE_INTENT]);

export const readReplacement = (annotations: Annotations): Replacement | undefined =>
  parseRecord(replacementSchema, annotations[REPLACEMENT]);
export const readSavedTemplate = (annotations: Annotations): SavedTemplate | undefined =>
  parseRecord(savedTemplateSchema, annotations[SAVED_TEMPLATE]);

/** A record that a person has damaged counts as none. */
function parseRecord<T>(schema: z.ZodType<T>, text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The metadata that a pod gets with its image. */
export const writePodRecord = (record: PodRecord) => ({
  labels: { [VERSION_LABEL]: writeLabelValue(record.version), [UPDATE_LABEL]: hashUpdate(record.update) },
  annotations: { [POD_RECORD]: JSON.stringify(record) },
});

/** The value of the label for an update id. */
export const hashUpdate = (update: string): string => createHash('sha256').update(update).digest('hex').slice(0, 16);
