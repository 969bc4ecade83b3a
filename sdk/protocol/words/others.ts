import type { ActionServiceProtocol } from '../actionService';
import type { ArtifactFinderProtocol } from '../artifactFinder';
import type { DataSourceProtocol } from '../dataSource';
import type { DependencyGraphProtocol } from '../dependencyGraph';
import type { TaskControllerProtocol } from '../taskController';
import type { TicketProtocol } from '../tickets';
import type { MethodWords } from '../words';

export const ACTION_SERVICE_WORDS: Readonly<Record<keyof ActionServiceProtocol, MethodWords>> = {
  startRun: {
    summary: 'Begins a run. It answers at once; the work continues afterwards.',
    called:
      'Once for each attempt of an action, and again whenever the answer got lost. `runId` is also the idempotency key.',
    answer: 'The `runId` that was sent.',
    contradictions: 'Conveyor refuses an answer that has another `runId`.',
    fields:
      '`with` is what the action has under `with`, yours to read. `inputs` are its artifacts. `callback`, where there is one: `POST url` with `Authorization: Bearer <key>` and no body says that the run has ended, so that getRunProgress is asked at once; it may be sent late, twice or never.',
    again: 'A known `runId` starts nothing new, whatever the key and the callback.',
    unknown: 'Refuse (400) what you cannot run: the action fails, and says why. Without `Idempotency-Key`, refuse.',
  },
  getRunProgress: {
    summary: 'How a run goes, and what it came to.',
    called: 'Every `progressInterval` (5 s) until it has ended. It changes nothing.',
    answer:
      '`state`; `progress` from 0 to 1, 1 once it succeeded; `message` for people, which says why it failed and names the version; `url` where there is more to see. `outputs` of a run that succeeded have the names that the action declares in `with.outputs`, in their order, each once.',
    contradictions:
      'Conveyor refuses an answer in which a run has succeeded with a `progress` below 1, an output appears twice, or a `digest` does not have the digits of its algorithm.',
    again: 'A run that has ended is answered in the same way for good: keep it for a week at least.',
    unknown: 'Refuse (404) a run that you do not know.',
  },
  cancelRun: {
    summary: 'Stops a run.',
    called: 'When nobody wants the run any more, until it is answered.',
    answer: '`{}`. From then on getRunProgress says `failed` with the message `cancelled`.',
    again: 'Cancelled twice is cancelled once; a run that has ended stays as it is.',
    unknown: 'Answer `{}` for a run that you do not know: it may never have begun.',
  },
};

export const ARTIFACT_FINDER_WORDS: Readonly<Record<keyof ArtifactFinderProtocol, MethodWords>> = {
  getArtifacts: {
    summary: 'What is new for each subscription.',
    called:
      'Every `sweepInterval` (60 s), for all pipelines together: at most 1,000 subscriptions a call, so a sweep may be several calls with the same cursor.',
    answer:
      '`found` has the newest artifact of each subscription that has something newer than `cursor`, under the `pipeline` and `artifact` of that subscription; without a cursor it has the newest of each that has any. `cursor` stands for the moment of the call, whatever was asked for: one cursor serves every page. Several artifacts of one subscription come oldest first.',
    contradictions:
      'Conveyor refuses an answer in which a row appears twice, a row answers a subscription that was not asked about, a subscription is both found and refused, a `digest` does not have the digits of its algorithm, a version follows itself (`metadata.before`), or a `metadata.sequence` is below that of an earlier row of its subscription.',
    again:
      'Looking uses nothing up: until something new is made, the same cursor gets the same answer. An artifact that is found twice starts one release.',
    unknown: 'A cursor that you do not know (any more) is none. Where there is nothing, `found` is empty.',
    partly:
      'A subscription whose `with` you cannot serve goes to `refused`, with a message that says what you take and what was given; the others are served. Refuse (400) more than 1,000.',
  },
};

export const TASK_CONTROLLER_WORDS: Readonly<Record<keyof TaskControllerProtocol, MethodWords>> = {
  process: {
    summary:
      'Which of the operations that wait may begin now. The fleet calls it, never Conveyor: there is no context.',
    called: 'About every second while something waits.',
    answer:
      '`ack` lists the ids of `request` that may begin, in any order. Approve something whenever all tasks run, or the update never ends.',
    contradictions: 'An answer in which an id appears twice, or is not in `request`, approves nothing.',
    fields:
      '`request` lists what waits now: none of it is under way, whatever you answered before. `completed`: what was approved and is over, until a call that named it was answered. `allUnhealthyTasks`: tasks that do not run, for whatever reason. Times of `advanceNotices` are ms since the epoch; maintenance cannot be put off past its `deadline`. For a task on such a machine a `move` and a `stop` are requested: approve one of them, or neither.',
    again:
      '`sequenceNumber` rises by one from call to call of a job. The same number with the same body is the same call, and gets the same answer.',
    partly: 'No answer, an error or a late answer (5 s) approves nothing.',
  },
};

export const DATA_SOURCE_WORDS: Readonly<Record<keyof DataSourceProtocol, MethodWords>> = {
  query: {
    summary: 'Samples of a metric, for some tasks of a unit, in a window.',
    called: 'By push types and the Health Check Service, several times an evaluation. It changes nothing.',
    answer:
      'One series for each task that has samples, with the label `task` as in `selector.tasks`; `points` are `[ms, value]` from `start` to `end`, the oldest first. `step` (ms) is how far apart points need to be at least; more of them do no harm.',
    contradictions:
      'Conveyor refuses an answer in which a task has two series, or a series belongs to a task that was not asked for.',
    fields:
      '`selector.tasks` asks for these tasks alone. `selector.labels`, sent in its place, asks for all tasks of the unit that have these labels, such as `version`.',
    unknown:
      'What nobody measured has no points, and is not an error: silence is judged elsewhere. Never fill gaps with zeros or with the last value.',
    again: 'The same question about a window that is over gets the same answer.',
  },
};

export const DEPENDENCY_GRAPH_WORDS: Readonly<Record<keyof DependencyGraphProtocol, MethodWords>> = {
  getDependents: {
    summary: 'Which of some built targets contain a target with a bug.',
    called:
      'When a bug is reported, about everything that releases under way and the newest good ones have built, 1,000 a call; and once for each bug in force before each deploy, about what it would deploy. It changes nothing.',
    fields:
      '`target` has the bug at revisions from `revisions.from` until before `revisions.to`; without `to` nobody knows a fix yet. `depth`: how many dependencies a chain may have.',
    answer:
      '`affected` lists those of `among` whose closure of dependencies, at their own revision, contains the target with the bug within `depth`. A target is in its own closure, at depth 0. `path` is a shortest chain: the built target first, the target with the bug last, so it has `depth` + 1 entries.',
    contradictions:
      'Conveyor refuses an answer in which a row appears twice, is not in `among` or is deeper than `depth`, or a `path` is not such a chain.',
    again: 'The same question gets the same answer: what was built from a revision does not change.',
    unknown:
      'A target that you do not know affects nothing, and a built target or revision of `among` that you do not know is not affected. Refuse (400) a `from` or `to` that is not a revision of yours: the bug is shown with your message.',
    partly: 'Refuse (400) more than 1,000. A circle of dependencies is gone through once.',
  },
};

export const TICKET_WORDS: Readonly<Record<keyof TicketProtocol, MethodWords>> = {
  openTicket: {
    summary: 'Opens a ticket for the owners of a pipeline that has not been deployed for long.',
    called:
      'By the daily run, once for each time that a pipeline grows stale, and again after an answer that got lost: a day later at the latest, then perhaps with another text. Also when a ticket that somebody closed escalates.',
    fields:
      '`key` names the ticket, for good. `assignees` are principals such as `group:storage`: who they are with you, you know. `escalated`: it goes to the managers of the owners, as far as the configuration names them. `body` is plain text in lines.',
    answer: '`ticket`: the name by which people find it, such as `OPS-1234`, also in later answers about this key.',
    contradictions:
      'Conveyor refuses an answer that gives the key another name than before, or a name that belongs to another key whose ticket is open. The ticket then counts as not opened, and Conveyor asks for it again.',
    again: 'Of a known `key` there is no second ticket: that one is open afterwards, with this text.',
    unknown: 'Refuse (400) what you cannot keep: the message is shown, and tomorrow you are asked again.',
  },
  updateTicket: {
    summary: 'Changes the text and the assignees of a ticket.',
    called: 'When a ticket escalates, or something else in its text is no longer true: a freeze, the owners.',
    fields: 'As of openTicket, the whole of them.',
    answer:
      '`state`: whether the ticket is open. One that somebody closed gets the text and stays closed; Conveyor lets it rest then, until it escalates.',
    unknown: 'A ticket that you do not know (any more) is `closed`.',
  },
  closeTicket: {
    summary: 'Closes a ticket that is over.',
    called: 'By the first run after a deploy has succeeded, or after its pipeline has ended.',
    fields: '`reason` is one sentence, for a comment.',
    answer: '`{}`.',
    again: 'Closed twice is closed once, also where somebody closed it before.',
    unknown: 'Answer `{}` for a ticket that you do not know: it may never have been opened.',
  },
};
