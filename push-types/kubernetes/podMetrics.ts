import type { Hono } from 'hono';
import { unitOf } from '../../sdk/updates';
import { listMetricLines, METRIC_HEADERS, type MetricFamily } from '../metricText';
import type { KubeFleet } from './fleet';
import { listPodPlaces } from './memory';

/** The pods and workloads as the push type saw them, for Prometheus: `/metrics`, with the label `task` that moving targets need. */
export function addPodMetrics(app: Hono, fleet: KubeFleet): void {
  app.get('/metrics', (c) => c.text(writePodMetrics(fleet), 200, METRIC_HEADERS));
}

interface PodRow {
  readonly labels: Readonly<Record<string, string>>;
  readonly isLive: boolean;
  readonly isReachable: boolean;
  readonly isUpdating: boolean;
  readonly restarts: number | undefined;
}

/** A unit that cannot be read has no live pods: what was seen before does not count. */
function listPodRows(fleet: KubeFleet): readonly PodRow[] {
  return listReadUnits(fleet).flatMap((unit) => {
    const pods = new Map(fleet.lastUnitLook(unit)?.pods.map((pod) => [pod.uid, pod]));
    const isSeen = fleet.whyAway(unit) === undefined;
    return unitOf(fleet.state, unit).slots.flatMap((slot, index) => {
      const place = listPodPlaces(fleet.state, unit)[index];
      if (place === undefined || slot.gone) return [];
      const { pod, node } = place;
      return {
        labels: { task: slot.task ?? pod, unit, pod, node, version: slot.version },
        ...{ isLive: isSeen && slot.state === 'live', isReachable: isSeen && !slot.isUnreachable },
        ...{ isUpdating: slot.state === 'updating', restarts: pods.get(place.uid)?.status?.restarts },
      };
    });
  });
}

/** A unit that was never read has no state yet. */
const listReadUnits = (fleet: KubeFleet): readonly string[] => fleet.unitNames.filter((unit) => fleet.isKnown(unit));

const POD_FAMILIES: readonly MetricFamily<PodRow>[] = [
  {
    ...{ name: 'conveyor_pod_task_live', type: 'gauge', read: ({ isLive }) => Number(isLive) },
    help: '1 if the pod runs the version that it should have, and is ready',
  },
  {
    ...{ name: 'conveyor_pod_reachable', type: 'gauge', read: ({ isReachable }) => Number(isReachable) },
    help: '1 if its node reports, and its cluster answers',
  },
  {
    ...{ name: 'conveyor_pod_updating', type: 'gauge', read: ({ isUpdating }) => Number(isUpdating) },
    help: '1 while the pod is changed',
  },
  {
    ...{ name: 'conveyor_pod_restarts_total', type: 'counter', read: ({ restarts }) => restarts },
    help: 'restarts of its container, those by updates included',
  },
];

interface WorkloadRow {
  readonly unit: string;
  readonly isAvailable: boolean;
  readonly isTemplateChanging: boolean;
}

const WORKLOAD_FAMILIES: readonly MetricFamily<WorkloadRow>[] = [
  {
    ...{ name: 'conveyor_workload_available', type: 'gauge', read: ({ isAvailable }) => Number(isAvailable) },
    help: '1 if the workload can be read',
  },
  {
    name: 'conveyor_workload_template_changing',
    ...{ type: 'gauge', read: ({ isTemplateChanging }) => Number(isTemplateChanging) },
    help: '1 until new pods start on the version of the workload',
  },
];

function writePodMetrics(fleet: KubeFleet): string {
  const workloads = fleet.unitNames.map((unit) => ({
    ...{ unit, isAvailable: fleet.isKnown(unit) && fleet.whyAway(unit) === undefined },
    isTemplateChanging: fleet.state.moves?.[unit] !== undefined,
  }));
  const lines = [
    ...listMetricLines(POD_FAMILIES, listPodRows(fleet), ({ labels }) => labels),
    ...listMetricLines(WORKLOAD_FAMILIES, workloads, ({ unit }) => ({ unit })),
  ];
  return `${lines.join('\n')}\n`;
}
