import { z } from 'zod';
import type { KubernetesApi } from './client/api';
import { readReplacement, readSavedTemplate, type SavedTemplate, type UnitRecord } from './records';
import type { PodsConfig } from './settings';
import { parsePodTemplate, readTemplateImage, viewWorkload, type PodTemplate, type WorkloadView } from './views';

/** The whole pod template of a version, for workloads whose pods are replaced. */

interface TemplateUnit extends Pick<PodsConfig, 'mode' | 'template'> {
  readonly container: string;
}

/** A workload with its own template, also while its pods are being replaced. */
export function settleTemplate(workload: WorkloadView): WorkloadView {
  const own = parsePodTemplate(readReplacement(workload.annotations)?.template);
  return own === undefined ? workload : { ...workload, template: own };
}

/**
 * Undefined where only the image differs. A version that the workload has, or had before this one, keeps its template; another gets the fields of the config,
 * merged by the server itself. @throws KubernetesError, of kind `Invalid` for fields that the server refuses
 */
export async function findWantedTemplate(
  api: KubernetesApi,
  { mode, container, template: fields = {} }: TemplateUnit,
  workload: WorkloadView,
  target: Omit<UnitRecord, 'update'>,
): Promise<PodTemplate | undefined> {
  if (mode !== 'recreate') return undefined;
  const own = settleTemplate(workload).template;
  if (readTemplateImage(own, container) === target.image) return own;
  const saved = readSavedTemplate(workload.annotations);
  const earlier = saved?.image === target.image ? parsePodTemplate(saved.template) : undefined;
  if (earlier !== undefined) return earlier;
  const patch = { spec: { template: addImage(fields, container, target.image) } };
  const merged = await api.patch(workload.ref, patch, { type: 'strategic', dryRun: true });
  return viewWorkload(workload.ref.kind, merged).template;
}

/** The template that a revert of the target would need, unless it is kept already. */
export function saveTemplate(
  { mode, container }: TemplateUnit,
  workload: WorkloadView,
  target: Pick<UnitRecord, 'image'>,
  version: string,
): SavedTemplate | undefined {
  const image = readTemplateImage(workload.template, container) ?? '';
  if (mode !== 'recreate' || image === target.image) return undefined;
  if (readSavedTemplate(workload.annotations)?.image === target.image) return undefined;
  return { version, image, template: workload.template };
}

const fieldsSchema = z.looseObject({
  spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string() })).optional() }).optional(),
});

/** A patch of a pod template with the image of a container. */
function addImage(fields: Readonly<Record<string, unknown>>, container: string, image: string): object {
  const { spec, ...rest } = fieldsSchema.parse(fields);
  const containers = spec?.containers ?? [];
  const own = containers.find(({ name }) => name === container);
  const others = containers.filter((one) => one !== own);
  return { ...rest, spec: { ...spec, containers: [...others, { ...own, name: container, image }] } };
}
