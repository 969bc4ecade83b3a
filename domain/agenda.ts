/** The calendar of pipelines: times at which they may deploy, and what is planned. Times are ISO 8601, UTC. */

export interface AgendaSpan {
  /** `open`: a window of these actions, without its blackouts; `blackout` and `frozen`: nothing begins. */
  readonly kind: 'open' | 'blackout' | 'frozen';
  /** The actions that it is about; empty for all. */
  readonly actions: readonly string[];
  readonly from: string;
  readonly to: string;
  /** The reason of a blackout or a freeze. */
  readonly why: string | null;
}

export interface AgendaMoment {
  /** `calendar`: the schedule lets releases or deploys begin; `thaw`: a freeze lifts itself; `end`: the expected end of a deploy. */
  readonly kind: 'calendar' | 'blackout' | 'thaw' | 'end';
  readonly at: string;
  /** The pipeline or deploy. */
  readonly id: string;
  readonly text: string;
}

export interface PipelineAgenda {
  readonly id: string;
  /** By kind and actions, then by time. */
  readonly spans: readonly AgendaSpan[];
  /** By time. */
  readonly moments: readonly AgendaMoment[];
  /** Whether the calendar fires more often than is listed. */
  readonly isCut: boolean;
  /** Why its file is not known; null if it is. */
  readonly problem: string | null;
}

/** An agenda begins with the present day. */
export const AGENDA_DAYS = 14;
