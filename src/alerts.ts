/** Alerts of a scheduler, by webhook or mail; mail needs the package nodemailer. */
export {
  type AlertRuleOptions,
  failedInARow,
  firingLaterThan,
  type MisfiresOverOptions,
  misfiresOver,
  type NodeDownOptions,
  nodeDown,
  noSuccessWithin,
  triggerInError,
} from './alerts/alert-rules.ts'
export type {
  ActiveAlert,
  AlertChannel,
  AlertFinding,
  AlertNotice,
  AlertRule,
  AlertSilence,
  AlertWatch,
} from './alerts/alert-types.ts'
export {
  type AlertsPlugin,
  type AlertsPluginOptions,
  alertsPlugin,
  type ChannelTest,
  type SilenceOptions,
} from './alerts/alerts-plugin.ts'
export { type MailChannelOptions, type MailServerOptions, mailChannel } from './alerts/mail-channel.ts'
export { type WebhookChannelOptions, webhookChannel } from './alerts/webhook-channel.ts'
