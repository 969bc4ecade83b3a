/** An identity provider that a server accepts: `conveyor login` sends people there. */
export interface SignInOffer {
  readonly issuer: string;
  /** The client id of `conveyor login` at the provider. */
  readonly client: string;
  readonly scopes: readonly string[];
}
