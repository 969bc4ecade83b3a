import type { TaskOp } from '../../sdk/protocol/taskController';
import type { DueEvent } from '../events';
import { askAgain, formatTaskId, voidApprovals, wakeControl } from './control';
import type { ControlState, OpApproval } from './controlState';
import { listRequestApprovals } from './resizeAndRestart';
import { nameAtIndex, type Twine, type UnitUpdate } from './fleet';
import { hasTask, RUNNING, type Job } from './job';
import { noticesFor } from './maintenance';
import { listFaultApprovals } from './relocation';
import { activeUnits, schedule, takeFree } from './scheduler';
import { canStop } from './stops';
import { schedulerDown } from './tasks';

/** How the scheduler talks with a job's task controller (Twine §2.5). */
type ControlAnswer = Omit<Extract<DueEvent, { kind: 'control-answered' }>, 'kind' | 'job'>;

/** The most operations that fit into the body of one call. */
const MAX_OPS = 2500;

/** The job's controller is due: prepares its request, if there is anything to ask. The call itself is made outside. */
export function prepareCall(twine: Twine, job: Job, at: number): void {
  const { control } = job;
  if (!control || control.dueAt !== at) return;
  control.dueAt = null;
  if (control.call?.isUnderWay || schedulerDown(twine, job.region)) return;
  for (const [id, unit] of activeUnits(twine, job)) takeFree(twine, job, id, unit);
  const wanted = [
    ...listFaultApprovals(twine, job),
    ...listRequestApprovals(twine, job),
    ...listUpdateApprovals(twine, job),
  ];
  withdraw(control, wanted);
  const told = { advanceNotices: noticesFor(twine, job), allUnhealthyTasks: unhealthyTasks(job) };
  if (wanted.length === 0 && control.completed.length === 0 && !isNews(control, told)) return;
  const page = pickPage(wanted, control.page);
  const asked = new Map(page.map((approval) => [approval.op.id, approval]));
  const request = {
    jobHandle: job.name,
    request: page.map(({ op }) => op),
    completed: control.completed.slice(0, MAX_OPS),
    ...told,
  };
  const last = control.call?.request;
  if (
    last === undefined ||
    JSON.stringify({ ...last, sequenceNumber: 0 }) !== JSON.stringify({ ...request, sequenceNumber: 0 })
  )
    control.sequence += 1;
  control.call = { request: { ...request, sequenceNumber: control.sequence }, asked, isUnderWay: true };
  control.isStale = false;
  control.askedAt = twine.world.now;
  control.dueAt = null;
  twine.notify({ kind: 'controller-asked', job: job.name });
  twine.fleet.asking.add(job.name);
}

/** The result of a call: the approved operations or, with null, the reason why there was no answer. */
export function onAnswer(twine: Twine, job: Job, { sequence, askedAt, ack, trouble }: ControlAnswer): void {
  const { control } = job;
  const call = control?.call;
  if (!control || !call?.isUnderWay || call.request.sequenceNumber !== sequence) return;
  if (askedAt !== undefined && askedAt !== control.askedAt) return;
  control.trouble = ack === null ? trouble : null;
  if (ack !== null) {
    control.page += 1;
    const { allUnhealthyTasks, advanceNotices } = call.request;
    control.told = { allUnhealthyTasks, advanceNotices };
    control.completed = control.completed.slice(call.request.completed.length);
    for (const id of ack) {
      const approval = call.asked.get(id);
      if (approval === undefined || control.approved.has(id)) continue;
      control.approved.set(id, approval);
      twine.notify({ kind: 'op-approved', job: job.name, slot: approval.slot, op: approval.op.kind });
    }
  }
  const changed = control.isStale;
  schedule(twine, job);
  call.isUnderWay = false;
  if (ack !== null) control.call = null;
  if (ack !== null && (changed || control.completed.length > 0)) wakeControl(twine, job);
  else askAgain(twine, job);
}

/** Reports operations to the controller as completed: approved, not begun, and no longer wanted. */
function withdraw(control: ControlState, wanted: readonly OpApproval[]): void {
  voidApprovals(control);
  if (control.unused.length === 0) return;
  const ids = new Set(wanted.map(({ op }) => op.id));
  control.completed.push(...control.unused.filter(({ id }) => !ids.has(id)));
  control.unused = [];
}

/** Whether tasks failed or returned, or maintenance was announced or called off, since the last call to the controller. */
const isNews = ({ told }: ControlState, { allUnhealthyTasks, advanceNotices }: ControlState['told']): boolean =>
  JSON.stringify([told.allUnhealthyTasks, told.advanceNotices]) !== JSON.stringify([allUnhealthyTasks, advanceNotices]);

const pickPage = (wanted: readonly OpApproval[], page: number): readonly OpApproval[] => {
  const pages = Math.max(1, Math.ceil(wanted.length / MAX_OPS));
  return wanted.slice((page % pages) * MAX_OPS, ((page % pages) + 1) * MAX_OPS);
};

function listUpdateApprovals(twine: Twine, job: Job): OpApproval[] {
  return activeUnits(twine, job).flatMap(([owner, unit]) =>
    unit.state === 'active'
      ? [...(unit.waiting ?? [])].flatMap((slot) => buildUpdateApproval(twine, job, owner, unit, slot))
      : [],
  );
}

function buildUpdateApproval(twine: Twine, job: Job, owner: string, unit: UnitUpdate, slot: number): OpApproval[] {
  if (unit.removes ? !canStop(job, slot) : job.tasks.state[slot] !== RUNNING) return [];
  const toVersion = nameAtIndex(twine.fleet, unit.version) ?? '';
  const kind = unit.removes ? { kind: 'stop' as const } : { kind: 'update' as const, toVersion };
  const op: TaskOp = { id: `${owner}/${slot}`, task: formatTaskId(job, slot), ...kind };
  return [{ op, slot, owner }];
}

function unhealthyTasks(job: Job): string[] {
  const found: string[] = [];
  for (let slot = 0; slot < job.size; slot += 1)
    if (hasTask(job, slot) && job.tasks.state[slot] !== RUNNING) found.push(formatTaskId(job, slot));
  return found;
}
