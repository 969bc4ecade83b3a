import type { VirtualWorld } from './world';

/** A request to the push type. */
export interface Asked {
  readonly method: string | undefined;
  readonly updateId?: string;
  readonly urgency?: string;
  /** For a question about health. */
  readonly now?: number;
  readonly units?: readonly string[];
  /** For a request that names units one by one. */
  readonly targets?: readonly { readonly unit: string }[];
  readonly common?: { readonly updatedBy?: readonly string[] };
  readonly context?: { readonly deployId: string; readonly config: Readonly<Record<string, unknown>> };
}

/** Replaces the real answer; undefined keeps it. */
type Change = (asked: Asked, real: () => Promise<RealAnswer>) => object | undefined | Promise<object | undefined>;

/** An answer that tests may change. */
export interface RealAnswer {
  readonly next?: unknown;
  readonly units: readonly Readonly<Record<string, unknown> & { id: string; live: number; targeted: number }>[];
}

/** From now on the push type answers with the result of `change`. @returns a function that ends that */
export function answering(world: VirtualWorld, change: Change): () => void {
  const { app } = world.simulator;
  const through = app.fetch.bind(app);
  app.fetch = async (request, ...rest) => {
    const body = (await request
      .clone()
      .json()
      .catch(() => ({}))) as Omit<Asked, 'method'>;
    const asked = { ...body, method: request.url.split('/').at(-1) };
    const real = async () => (await through(request.clone(), ...rest)).json() as Promise<RealAnswer>;
    const isPushType = request.url.includes('/push-types/');
    const given = isPushType ? await change(asked, real) : undefined;
    if (given instanceof Response) return given;
    return given ? Response.json(given) : through(request, ...rest);
  };
  return () => void (app.fetch = through);
}

/** A service that does not answer. */
export const away = (): Response => new Response('busy', { status: 503 });

/** A refusal that no retry changes. */
export const refusal = (): Response =>
  Response.json({ error: { code: 'no', message: 'not today', retryable: false } }, { status: 409 });
