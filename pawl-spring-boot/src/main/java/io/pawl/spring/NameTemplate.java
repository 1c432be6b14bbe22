package io.pawl.spring;

import io.pawl.LockGroup;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.CollectionUtils;

/** A lock's name as an annotation has it: text, and expressions about the call. */
final class NameTemplate {

  /** What expressions need, which most names have none of: classes for their start alone. */
  private static final class Spel {
    static final SpelExpressionParser parser = new SpelExpressionParser();
    static final ParameterNameDiscoverer parameters = new DefaultParameterNameDiscoverer();
  }

  private static final String BEGINS_EXPRESSION = "#{";

  /** What is meant for SpEL, and would be the same name for all calls. */
  private static final Pattern BARE_EXPRESSION = Pattern.compile("#\\s*[\\p{Alpha}_]");

  private final String text;
  private final Method method;
  private final BeanFactory beans;
  private final List<Expression> parts;
  private final @Nullable String literal;

  /**
   * @param text after placeholders were replaced
   * @throws IllegalStateException for a text that cannot be meant
   */
  NameTemplate(String text, Method method, BeanFactory beans) {
    this.text = text;
    this.method = method;
    this.beans = beans;
    if (text.isBlank()) {
      throw new IllegalStateException("the lock of " + method + " has no name; give it one");
    }
    literal = text.contains(BEGINS_EXPRESSION) ? null : text;
    parts = literal == null ? parse(text) : List.of();
    if (literal != null && BARE_EXPRESSION.matcher(literal).find()) {
      throw new IllegalStateException(
          "the lock's name '"
              + text
              + "' of "
              + method
              + " is the same for all calls; write #{…}"
              + " around an expression, as in orders:#{#id}");
    }
  }

  private static List<Expression> parse(String template) {
    Expression whole = Spel.parser.parseExpression(template, ParserContext.TEMPLATE_EXPRESSION);
    return whole instanceof CompositeStringExpression composite
        ? List.of(composite.getExpressions())
        : List.of(whole);
  }

  /**
   * @throws IllegalArgumentException where an expression is null or blank
   */
  String of(@Nullable Object target, @Nullable Object[] arguments) {
    if (literal != null) {
      return literal;
    }
    EvaluationContext context = context(target, arguments);
    StringBuilder name = new StringBuilder();
    for (Expression part : parts) {
      name.append(checked(part.getValue(context, String.class), part));
    }
    return name.toString();
  }

  /**
   * One name, or one for each element where an expression is a collection or an array.
   *
   * @throws IllegalArgumentException where an expression or an element is null or blank, or a
   *     collection has no element
   */
  List<String> allOf(@Nullable Object target, @Nullable Object[] arguments) {
    if (literal != null) {
      return List.of(literal);
    }
    EvaluationContext context = context(target, arguments);
    List<String> names = List.of("");
    for (Expression part : parts) {
      List<String> values = values(part, context);
      if ((long) names.size() * values.size() > LockGroup.MAX_NAMES) {
        throw invalid(
            part, "makes more than " + LockGroup.MAX_NAMES + " names; lock something wider");
      }
      List<String> before = names;
      names = before.stream().flatMap(name -> values.stream().map(value -> name + value)).toList();
    }
    return names;
  }

  private List<String> values(Expression part, EvaluationContext context) {
    Object value = part.getValue(context);
    if (value instanceof Collection<?> || value != null && value.getClass().isArray()) {
      List<String> values = new ArrayList<>();
      for (Object element :
          value instanceof Collection<?> many ? many : CollectionUtils.arrayToList(value)) {
        values.add(checked(asText(element, context), part));
      }
      if (values.isEmpty()) {
        throw invalid(part, "is empty");
      }
      return values.stream().distinct().toList();
    }
    return List.of(checked(asText(value, context), part));
  }

  private static @Nullable String asText(@Nullable Object value, EvaluationContext context) {
    return value == null
        ? null
        : (String)
            context
                .getTypeConverter()
                .convertValue(
                    value, TypeDescriptor.forObject(value), TypeDescriptor.valueOf(String.class));
  }

  private EvaluationContext context(@Nullable Object target, @Nullable Object[] arguments) {
    MethodBasedEvaluationContext context =
        new MethodBasedEvaluationContext(target, method, arguments, Spel.parameters);
    context.setBeanResolver(new BeanFactoryResolver(beans));
    return context;
  }

  private String checked(@Nullable String value, Expression part) {
    if (value == null || value.isBlank() && !(part instanceof LiteralExpression)) {
      throw invalid(part, value == null ? "is null" + hint() : "is blank");
    }
    return value;
  }

  private String hint() {
    return Spel.parameters.getParameterNames(method) == null
        ? "; the parameters have no names, as the class was compiled without -parameters"
        : "";
  }

  private IllegalArgumentException invalid(Expression part, String why) {
    return new IllegalArgumentException(
        "the lock's name '"
            + text
            + "' of "
            + method
            + ": "
            + part.getExpressionString()
            + " "
            + why);
  }
}
