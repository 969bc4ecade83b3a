import type { PushTypeProtocol } from '../pushType';
import type { MethodWords } from '../words';

const COMMAND = {
  called: 'Under its own idempotency key each time. `units`: of these alone; without it, of the whole update.',
  unknown: 'Answer `{}` for an update that you do not know: it may never have arrived.',
};

/** The meaning of the methods of a push type. */
export const PUSH_TYPE_WORDS: Readonly<Record<keyof PushTypeProtocol, MethodWords>> = {
  validateConfig: {
    summary: "Finds mistakes in the pipeline's `config`, which comes as `context.config`.",
    called:
      'Once at the start of each deploy, with the `version` that it is to bring unless it goes back, and by `conveyor apply`. It changes nothing.',
    answer:
      'Every problem at once, each with the path of the field (`config.units.0`); `[]` when there is none. A problem fails the deploy before anything is touched, so a `version` that could never be brought is one, with the path `version`.',
  },
  fetchDeployUnits: {
    summary: 'The units that `context.config` names, as they are now.',
    called:
      'Several times in a deploy: at its start (with `limit: 1`, for `service` alone), to plan, before each phase, and while units are unavailable. It changes nothing.',
    answer:
      '`service` is the stable name of what is deployed, and of its lock: two deploys of one service never run at a time. `size` counts the tasks of now. `version` is the one on which a task starts that is added now, and to which a revert goes back, not what most tasks run; null when there never was one, and after removeUnits. `mixed`: the tasks run more than one version. `available: false`: nothing can be updated there now; the deploy leaves the unit out, and brings it later.',
    contradictions: 'Conveyor refuses an answer in which a unit appears twice.',
    partly:
      'At most 500 units are answered at once. With more, answer in pages: at most `limit` units, and `next`, the cursor of the page after it, null with the last page. Answering `next`, also null, promises that one update may come in several requests, and that `common` is understood. Leave `next` out where that is not so.',
    unknown: 'A unit of the config that does not exist is a problem of `validateConfig`; refuse the call.',
  },
  needsPush: {
    summary: 'How many tasks of each unit still differ from the target.',
    called:
      'Before each phase, in lockstep between its strides, and once an update, or a revert, has come to what it is to bring by what trackUpdates says: it is believed if both agree. It changes nothing.',
    answer:
      'One row for each target. `size` is all tasks of the unit, and `outdated` how many are not up on `version`: one on its way differs until it is live, and one that is down differs. With an `amount`, `outdated` is how many are missing to that amount, 0 once it is reached; without one, or with `{ all: true }`, all that differ. Tasks of `exclude` count neither way. With `updatedBy`, only tasks that these updates touched count. `down` says how many of the outdated have left their old version and are not up. `budget` is how many tasks may be unavailable at a time, for lockstep; leave it out where there is no such limit. A unit that was removed has `size: 0`; for all of its tasks, `outdated` counts those that executeUpdates would make.',
    contradictions: 'Conveyor refuses an answer in which a unit appears twice or was not asked for.',
    unknown: 'Refuse a unit that you do not know.',
  },
  executeUpdates: {
    summary: 'Begins an update, forward or back. It answers at once; the work continues afterwards.',
    called:
      'Once for each try of a phase or a revert, and again whenever the answer got lost: after a second or a day, from another process, also while the first call is still under way.',
    answer:
      '`accepted` lists every unit that was asked for; a unit that is missing there counts as refused. All or nothing: check every target before the first task is touched. Refuse (400) a unit that is named twice. Which tasks are chosen is up to you: those on their way to the version first, then those that are down, is cheapest.',
    fields:
      '`amount`: bring the unit to *at least* so many of its present tasks on `version`; those that are already there count, `percent` is of all tasks of the unit, rounded up, one at least; nothing is ever taken back to reach it. `updateId` is `<deploy>/<phase or revert>/<try>`: without its last two parts it names the deploy. `wholeUnit: true`: set the version of the unit itself, too, so that tasks which are added later start on it, and count as tasks that this update touched; without it only the chosen tasks change, and added ones start on the old version. `exclude`: tasks that these updates touched last are neither taken nor counted. `updatedBy`, in a revert: take exactly the tasks that one of these updates touched last, or that inherited its version, or that an earlier try of the revert left behind; set back the version of the unit first where one of them had set it. With an `amount` besides, take at most so many, those that are down first. A revert brings no artifacts: `version` alone has to be enough. `urgency: revert` says that it takes something back; do it before other work. An update of all tasks of a unit that was removed makes as many as its own specification says, and sets the version of the unit, with `wholeUnit` or without; an update of some of its tasks finds none, and is done.',
    again:
      'A known `updateId` begins nothing and gets the first answer, whatever the key. The same key with another request is refused (409). What was refused uses up neither: the same call may be taken later.',
    order:
      'One update a unit: refuse a unit (409) that has an unfinished update of *another* deploy (pending, updating or paused), unless one of both excludes the other. A later update of the *same* deploy ends the earlier one where it is, which is `failed` from then on, and takes over its tasks in flight. An update that was cancelled before it came is refused for good. `context.fence`, where it is sent, never falls: refuse a forward update whose fence is lower than one that you have seen.',
    unknown:
      'Refuse (404) a unit that you do not know or that the config does not name, and a version that cannot be found.',
    partly:
      'Where you answer `next` (see fetchDeployUnits), the same update comes in several requests, each under its own key with other units: begin the units that are new.',
  },
  trackUpdates: {
    summary: 'Where an update stands, of each of its units, now.',
    called:
      'Every `trackInterval` (5 s) while an update runs, and again later, also when it was cancelled, ended or replaced. It changes nothing.',
    answer:
      'One row for each unit of the update, with `units` only of these. `targeted` counts the tasks that the update has chosen, which were not on the version up: with an amount of 5 of which 2 are there, 3. `updated`: of these, how many have left their old version. `live`: of these, how many run on the version and pass their liveness check, looked up now, not remembered. `failed`: how many were tried and did not come up. `unreachable`: how many cannot be asked now. `gone`: how many do not exist any more. Of a removal, `targeted` counts all tasks that the unit had, `gone` those that no longer exist, and `updated`, `live` and `failed` none. A task that comes up on the version counts as updated, also where it was on it before. `ahead`: how many others go first, where the update waits for its turn; say in `reason` for what.',
    contradictions:
      'Conveyor refuses an answer in which a unit appears twice or was not asked for, `live` is higher than `targeted` or `updated`, or `targeted` without `gone` is higher than the `size` of the unit, both as it was planned and as fetchDeployUnits lists it now. Of a removal, which it knows by the id, it also refuses tasks that are live, and `done` with a `gone` that is not `targeted`.',
    states:
      '`pending`: not begun. `updating`. `paused`: by pauseUpdates. `done`: nothing is left to do; a removal is done once no task is left, and fetchDeployUnits lists the unit with `size: 0` and `version: null`, or no longer. `failed`: it goes no further, since a task did not come up, it was cancelled, or a later update replaced it; say why in `reason`, naming the version. When a task does not come up, start no other of its unit. Counts of a cancelled or failed update continue: what was in flight counts as `live` once it is.',
    unknown:
      'Refuse (404, such as `unknown-update`) an update that you do not know, for example because you lost your memory: an empty list would say that there is nothing to do. The deploy then pauses, and once a person resumes it, the next try of the phase comes as a new update.',
  },
  pauseUpdates: {
    ...COMMAND,
    summary: 'Begins no more tasks until resumeUpdates; those in flight finish.',
    again: 'Paused twice is paused once. Of an update that has ended it changes nothing.',
  },
  resumeUpdates: {
    ...COMMAND,
    summary: 'Continues with what was paused.',
    again: 'Of an update that is not paused, has ended or was cancelled it changes nothing.',
  },
  cancelUpdates: {
    ...COMMAND,
    summary: 'Ends an update where it is: no more tasks begin, those in flight finish, and nothing goes back.',
    answer: '`{}`. From then on trackUpdates says `failed`, and the units are free for others.',
    again: 'Cancelled twice is cancelled once; an update that is done stays done. It cannot be resumed.',
    unknown:
      'Answer `{}`, and remember the id: an update that was cancelled before it arrives never begins, and is refused.',
  },
  runHealthChecks: {
    summary: 'Judges tasks that were updated, by the metrics that the checks name.',
    called:
      'Every `healthInterval` (60 s) while a phase bakes, and before and after. It changes nothing. `now` and `baseline` are ms since the epoch.',
    answer:
      'One row for each unit of `targets.units`, with one `Evidence` for each check of scope `unit`; and those of scope `deploy` under `deploy`. Judge the tasks that an update of `updatedBy` touched last, none of `exclude`: a unit without such a task has no checks. When `updatedBy` is empty, judge all tasks. `samples` counts points, `tasks` the tasks that had some, `window` is where they come from.',
    contradictions:
      'Conveyor refuses an answer in which a unit or a check appears twice or was not asked for, or the `window` of a `healthy` or `unhealthy` verdict ends before its start, or more than 5 minutes after `now`, or such a verdict has `samples` of no task, or `tasks` that had some without any.',
    partly:
      'Never fail and never guess: without data the verdict is `inconclusive`, as which a `healthy` or `unhealthy` with 0 `samples` and 0 `tasks` counts, and `errored` where the data source failed, with a `reason`. Only `unhealthy` reverts. A unit that you leave out is `inconclusive`.',
    how: 'You need not evaluate checks yourself: `conveyor hcs` does (docs/reference/health.md, "The Health Check Service"). Resolve units and updates to task identifiers, send them to `POST /evaluate`, and hand on the answer.',
  },
  shiftTraffic: {
    summary: 'Optional, for lockstep: sends a share of the requests of each unit to tasks on a version.',
    called:
      'Before and between updates in lockstep. Without units it asks whether you have the method, and changes nothing.',
    answer: '`{}` once it holds. `percent` has up to four decimals, and may be set before any task runs the version.',
    again: 'The same share again changes nothing.',
    unknown:
      'Refuse a unit that you do not know. Without this method answer 404, 405 or 501: lockstep is then refused, and everything else continues.',
  },
  prefetch: {
    summary: 'Optional: fetches what the next phase brings, so that it starts sooner.',
    called: 'While a phase bakes, for the next one. Nothing waits for it.',
    answer: '`{}`, at once. It touches no task.',
    again: 'A second call for a version that is there changes nothing.',
    unknown: 'Without this method answer 404, 405 or 501; the deploy continues without.',
  },
  removeUnits: {
    summary: 'Optional: removes units with all of their tasks. It answers at once; the work continues afterwards.',
    called:
      'When a pipeline is undeployed, once for each try, and again whenever the answer got lost. Without units it asks whether you have the method, and changes nothing.',
    fields:
      '`updateId` is `<deploy>/remove/<try>`. From then on it is an update: trackUpdates follows it, and pauseUpdates, resumeUpdates and cancelUpdates apply to it.',
    answer:
      '`accepted` lists every unit that was asked for. All or nothing: check every unit before the first task is touched. Stop the tasks in any order, as many at a time as you like; ask a task controller, where there is one, about each (`stop`). Keep what it takes to make the unit again: as long as the config names it, fetchDeployUnits lists it with `size: 0`, `version: null` and `available: true`, and executeUpdates brings it back. Where that is not possible, list it no longer.',
    contradictions: 'Conveyor refuses an answer in which a unit appears twice, was not asked for, or is missing.',
    again:
      'A known `updateId` begins nothing and gets the first answer, whatever the key, also once the unit is back. A unit that is removed already is accepted again, and is done at once.',
    order:
      'Refuse a unit (409) that has an unfinished update of *another* deploy, a canary among them; what you refuse uses up neither key nor id. A removal ends an unfinished update of the *same* deploy where it is. A removal that was cancelled before it came is refused for good, and one whose `context.fence` is lower than one that you have seen is refused, too.',
    unknown:
      'Refuse (404) a unit that you do not know or that the config does not name. Without this method answer 404, 405 or 501: a pipeline cannot be undeployed then, and everything else continues.',
    partly:
      'Where you answer `next` (see fetchDeployUnits), the same removal comes in several requests, each under its own key with other units: begin the units that are new.',
  },
};
